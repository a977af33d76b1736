/** The command palette (Ctrl-K) and the list of shortcuts (?). Screens add their commands. */
import { Modal, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import {
  createContext,
  type KeyboardEvent,
  type ReactNode,
  useContext,
  useEffect,
  useRef,
  useState,
} from "react";
import { useNavigate } from "react-router";

import { useTexts } from "../i18n";
import { Key, type Shortcut, useAllShortcuts, useShortcuts } from "../kit";
import { PLACES } from "./screens";
import { texts } from "./texts";

export interface Command {
  readonly label: string;
  readonly run: () => void;
}

const CommandsContext = createContext<{
  layers: Set<{ current: readonly Command[] }>;
  open: () => void;
  help: () => void;
}>({ layers: new Set(), open: () => undefined, help: () => undefined });

/** Commands that the palette offers while a component is shown. */
export function useCommands(commands: readonly Command[]): void {
  const { layers } = useContext(CommandsContext);
  const layer = useRef(commands);
  layer.current = commands;
  useEffect(() => {
    layers.add(layer);
    return () => void layers.delete(layer);
  }, [layers]);
}

export function useOpenCommands(): { open: () => void; help: () => void } {
  return useContext(CommandsContext);
}

export function CommandsProvider({ children }: { children: ReactNode }) {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const [layers] = useState(() => new Set<{ current: readonly Command[] }>());
  const [shown, setShown] = useState<"" | "palette" | "help">("");
  const shortcutsNow = useAllShortcuts();
  const open = () => setShown("palette");
  const help = () => setShown("help");
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setShown((current) => (current === "palette" ? "" : "palette"));
      }
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
  const places = PLACES.map(({ path, name, key }) => ({
    keys: `g ${key}`,
    label: t.goTo(t[name] as string),
    run: () => void navigate(path),
  }));
  useShortcuts([...places, { keys: "?", label: t.help, run: help }]);
  const commands = () => [...[...layers].flatMap((layer) => layer.current), ...places];
  return (
    <CommandsContext value={{ layers, open, help }}>
      {children}
      <Modal
        opened={shown === "palette"}
        transitionProps={{ duration: 0 }}
        onClose={() => setShown("")}
        withCloseButton={false}
        padding={0}
        size="lg"
        yOffset="12vh"
        centered={false}
        attributes={{ content: { "aria-label": t.commands } }}
      >
        {shown === "palette" && <Palette commands={commands()} onClose={() => setShown("")} />}
      </Modal>
      <Modal opened={shown === "help"} onClose={() => setShown("")} title={t.shortcuts}>
        {shown === "help" && <Help shortcuts={shortcutsNow()} />}
      </Modal>
    </CommandsContext>
  );
}

function Palette({ commands, onClose }: { commands: readonly Command[]; onClose: () => void }) {
  const t = useTexts(texts);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fitting = commands.filter(({ label }) =>
    words.every((word) => label.toLowerCase().includes(word)),
  );
  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const press = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      setAt((current) => Math.min(Math.max(0, current + by), fitting.length - 1));
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(fitting[at]);
    }
  };
  return (
    <div>
      <TextInput
        variant="unstyled"
        size="md"
        px="md"
        py={6}
        data-autofocus
        placeholder={t.commands}
        aria-label={t.commands}
        value={text}
        role="combobox"
        aria-expanded
        aria-controls="commands"
        aria-activedescendant={fitting[at] ? `command-${at}` : undefined}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <div style={{ maxHeight: 360, overflow: "auto", borderTop: "1px solid var(--line)" }}>
        <div role="listbox" id="commands" aria-label={t.commands} style={{ padding: 6 }}>
          {fitting.map((command, index) => (
            <UnstyledButton
              key={command.label}
              id={`command-${index}`}
              role="option"
              aria-selected={index === at}
              w="100%"
              px="sm"
              py={8}
              tabIndex={-1}
              onMouseEnter={() => setAt(index)}
              onClick={() => run(command)}
              style={{
                borderRadius: 8,
                fontSize: 14,
                background: index === at ? "var(--accent-soft)" : undefined,
              }}
            >
              {command.label}
            </UnstyledButton>
          ))}
        </div>
        {fitting.length === 0 && (
          <Text c="dimmed" p="md" size="sm">
            {t.noCommand}
          </Text>
        )}
      </div>
    </div>
  );
}

function Help({ shortcuts }: { shortcuts: readonly Shortcut[] }) {
  const t = useTexts(texts);
  const rows = [{ keys: "Ctrl-K", label: t.openCommands }, ...shortcuts];
  return (
    <Stack gap={8}>
      {rows.map(({ keys, label }) => (
        <div
          key={`${keys} ${label}`}
          style={{ display: "flex", justifyContent: "space-between", gap: 16 }}
        >
          <span>{label}</span>
          <span style={{ display: "inline-flex", gap: 4 }}>
            {keys.split(" ").map((key) => (
              <Key key={key}>{key}</Key>
            ))}
          </span>
        </div>
      ))}
    </Stack>
  );
}
