/** A menu below or above its button. Mantine's own needs a library that measures the page. */
import {
  cloneElement,
  createContext,
  type ElementType,
  type KeyboardEvent,
  type MouseEvent as ReactMouseEvent,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";

type Position = "top-start" | "top-end" | "bottom-end";

interface Opened {
  readonly id: string;
  readonly isOpen: boolean;
  readonly position: Position;
  readonly open: () => void;
  readonly close: (keepsFocus: boolean) => void;
}

const MenuContext = createContext<Opened | null>(null);

function useMenu(): Opened {
  const menu = useContext(MenuContext);
  if (menu === null) throw new Error("only below Menu");
  return menu;
}

const ITEMS = "[role=menuitem]";

export function Menu({ position, children }: { position: Position; children: ReactNode }) {
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = (keepsFocus: boolean) => {
    setOpen(false);
    if (keepsFocus) frame.current?.querySelector<HTMLElement>("[aria-haspopup=menu]")?.focus();
  };
  useEffect(() => {
    if (!isOpen) return undefined;
    frame.current?.querySelector<HTMLElement>(ITEMS)?.focus();
    const leave = (event: Event) => {
      if (!frame.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", leave);
    document.addEventListener("focusin", leave);
    return () => {
      document.removeEventListener("pointerdown", leave);
      document.removeEventListener("focusin", leave);
    };
  }, [isOpen]);
  const opened = { id, isOpen, position, open: () => setOpen(true), close };
  return (
    <MenuContext value={opened}>
      <div ref={frame} className="menu-frame">
        {children}
      </div>
    </MenuContext>
  );
}

/** The button of a menu. */
function Target({ children }: { children: ReactElement<Record<string, unknown>> }) {
  const { id, isOpen, open, close } = useMenu();
  return cloneElement(children, {
    "aria-haspopup": "menu",
    "aria-expanded": isOpen,
    "aria-controls": isOpen ? id : undefined,
    onClick: () => (isOpen ? close(true) : open()),
    onKeyDown: (event: KeyboardEvent) => {
      if (isOpen || event.key !== "ArrowDown") return;
      event.preventDefault();
      open();
    },
  });
}

function Dropdown({ children }: { children: ReactNode }) {
  const { id, isOpen, position, close } = useMenu();
  if (!isOpen) return null;
  const press = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation(); // the page has its own use for it
      close(true);
      return;
    }
    const items = [...event.currentTarget.querySelectorAll<HTMLElement>(ITEMS)];
    const next = nextOf(items, event.key);
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <div id={id} role="menu" className="menu" data-position={position} onKeyDown={press}>
      {children}
    </div>
  );
}

function nextOf(items: readonly HTMLElement[], key: string): HTMLElement | undefined {
  const at = items.indexOf(document.activeElement as HTMLElement);
  switch (key) {
    case "ArrowDown":
      return items[(at + 1) % items.length];
    case "ArrowUp":
      return items.at(at - 1);
    case "Home":
      return items[0];
    case "End":
      return items.at(-1);
    default:
      return undefined;
  }
}

interface ItemProps {
  readonly children: ReactNode;
  readonly leftSection?: ReactNode;
  readonly color?: "red" | undefined;
  readonly onClick?: () => void;
  readonly component?: "a";
  readonly href?: string;
  readonly target?: string;
  readonly lang?: string;
  readonly "aria-current"?: boolean;
}

function Item({ children, leftSection, color, onClick, component, ...rest }: ItemProps) {
  const { close } = useMenu();
  const Element: ElementType = component ?? "button";
  const press = (event: ReactMouseEvent) => {
    event.stopPropagation();
    close(true);
    onClick?.();
  };
  return (
    <Element
      {...(component ? {} : { type: "button" })}
      role="menuitem"
      tabIndex={-1}
      className="menu-item"
      data-color={color}
      onClick={press}
      {...rest}
    >
      {leftSection}
      {children}
    </Element>
  );
}

function Label({ children }: { children: ReactNode }) {
  return <div className="menu-label">{children}</div>;
}

function Divider() {
  return <hr className="menu-divider" />;
}

Menu.Target = Target;
Menu.Dropdown = Dropdown;
Menu.Item = Item;
Menu.Label = Label;
Menu.Divider = Divider;
