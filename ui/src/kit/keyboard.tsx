/** The keyboard: shortcuts of the page and of what is shown, one list for the help. */
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from "react";
import { useSearchParams } from "react-router";

export interface Shortcut {
  readonly keys: string; // "j", "?", "Enter", or two after each other: "g r"
  readonly label: string;
  readonly run: () => void;
}

interface Keyboard {
  readonly layers: Set<{ current: readonly Shortcut[] }>;
}

const KeyboardContext = createContext<Keyboard>({ layers: new Set() });
const SEQUENCE = 1_200;

export function KeyboardProvider({ children }: { children: ReactNode }) {
  const [keyboard] = useState<Keyboard>(() => ({ layers: new Set() }));
  useEffect(() => {
    let first = "";
    let timer = 0;
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTyping(event.target) || document.querySelector("[aria-modal=true]")) return;
      const wanted = first ? `${first} ${event.key}` : event.key;
      const shortcut = latest(keyboard, wanted) ?? latest(keyboard, event.key);
      clearTimeout(timer);
      first = "";
      if (shortcut) {
        if (event.key === "Enter" && isControl(event.target)) return;
        event.preventDefault();
        shortcut.run();
      } else if (begins(keyboard, event.key)) {
        first = event.key;
        timer = window.setTimeout(() => (first = ""), SEQUENCE);
      }
    };
    document.addEventListener("keydown", press);
    return () => {
      document.removeEventListener("keydown", press);
      clearTimeout(timer);
    };
  }, [keyboard]);
  return <KeyboardContext value={keyboard}>{children}</KeyboardContext>;
}

/** Shortcuts that hold while a component is shown; the newest comes first. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const { layers } = useContext(KeyboardContext);
  const layer = useRef(shortcuts);
  layer.current = shortcuts;
  useEffect(() => {
    layers.add(layer);
    return () => void layers.delete(layer);
  }, [layers]);
}

export function useAllShortcuts(): () => readonly Shortcut[] {
  const { layers } = useContext(KeyboardContext);
  return () => [...layers].flatMap((layer) => layer.current);
}

/** `j` and `k` walk through a list, `Enter` opens; the selected id stands in the URL. */
export function useListKeys(
  ids: readonly string[],
  options: {
    readonly param?: string;
    readonly labels: { next: string; previous: string; open: string };
    readonly open: (id: string) => void;
  },
): { selected: string | null; select: (id: string | null) => void } {
  const name = options.param ?? "selected";
  const [search, setSearch] = useSearchParams();
  const selected = search.get(name);
  const select = (id: string | null) => {
    setSearch(
      (current) => {
        const next = new URLSearchParams(current);
        if (id === null) next.delete(name);
        else next.set(name, id);
        return next;
      },
      { replace: true },
    );
  };
  const move = (by: number) => {
    const at = selected === null ? -1 : ids.indexOf(selected);
    const next = Math.min(ids.length - 1, Math.max(0, at + by));
    const id = ids[next];
    if (id === undefined) return;
    select(id);
    document.querySelector(`[data-item="${CSS.escape(id)}"]`)?.scrollIntoView({ block: "nearest" });
  };
  useShortcuts([
    { keys: "j", label: options.labels.next, run: () => move(1) },
    { keys: "k", label: options.labels.previous, run: () => move(-1) },
    {
      keys: "Enter",
      label: options.labels.open,
      run: () => selected !== null && options.open(selected),
    },
  ]);
  return { selected, select };
}

function latest({ layers }: Keyboard, keys: string): Shortcut | undefined {
  return [...layers]
    .flatMap((layer) => layer.current)
    .findLast((shortcut) => shortcut.keys === keys);
}

function begins({ layers }: Keyboard, key: string): boolean {
  return [...layers].some((layer) => layer.current.some(({ keys }) => keys.startsWith(`${key} `)));
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

function isControl(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest("a,button,summary,[role=button],[role=tab]") !== null
  );
}
