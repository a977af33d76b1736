/** Short notes at the edge of the page: what was done, or why not. */
import { CloseButton } from "@mantine/core";
import { IconAlertTriangle, IconCheck } from "@tabler/icons-react";
import { useSyncExternalStore } from "react";

import { ApiProblem, AWAY } from "../api/client";
import { useTexts } from "../i18n";
import { AnyText } from "./text";
import { texts } from "./texts";

interface Note {
  readonly id: number;
  readonly text?: string;
  readonly problem?: ApiProblem;
}

let notes: readonly Note[] = [];
let last = 0;
const watchers = new Set<() => void>();
const SECONDS = 6;

function show(note: Omit<Note, "id">): void {
  last += 1;
  const id = last;
  set([...notes.slice(-3), { ...note, id }]);
  if (!note.problem) setTimeout(() => drop(id), SECONDS * 1000);
}

function drop(id: number): void {
  set(notes.filter((note) => note.id !== id));
}

function set(next: readonly Note[]): void {
  notes = next;
  for (const watcher of watchers) watcher();
}

/** Tell that something was done. */
export function tell(text: string): void {
  show({ text });
}

/** Tell why something was not done. Fits `onError` of an act. */
export function tellProblem(error: unknown): void {
  const problem =
    error instanceof ApiProblem ? error : new ApiProblem(0, "page-fault", String(error));
  show({ problem });
}

export function Notes() {
  const t = useTexts(texts);
  const shown = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => notes,
  );
  return (
    <div
      aria-live="polite"
      style={{
        position: "fixed",
        right: 16,
        bottom: 16,
        zIndex: 500,
        width: "min(400px, calc(100vw - 32px))",
        display: "grid",
        gap: 8,
      }}
    >
      {shown.map(({ id, text, problem }) => (
        <div
          key={id}
          className="card"
          role={problem ? "alert" : "status"}
          style={{
            display: "flex",
            gap: 10,
            padding: "12px 14px",
            boxShadow: "var(--shadow)",
            alignItems: "flex-start",
          }}
        >
          <span style={{ color: `var(--state-${problem ? "fail" : "done"})`, paddingTop: 2 }}>
            {problem ? (
              <IconAlertTriangle size={17} aria-hidden />
            ) : (
              <IconCheck size={17} aria-hidden />
            )}
          </span>
          <div style={{ flex: 1, minWidth: 0, fontSize: 14 }}>
            <AnyText>
              {problem ? (problem.code === AWAY ? t.away : problem.detail) : (text ?? "")}
            </AnyText>
            {problem?.wayOut && (
              <div style={{ color: "var(--text-dim)", marginTop: 3 }}>
                <AnyText>{problem.wayOut}</AnyText>
              </div>
            )}
            {problem && (
              <code style={{ fontSize: 12, color: "var(--text-dim)" }}>{problem.code}</code>
            )}
          </div>
          <CloseButton size="sm" aria-label={t.close} onClick={() => drop(id)} />
        </div>
      ))}
    </div>
  );
}
