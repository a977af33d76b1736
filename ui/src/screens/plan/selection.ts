/** What of a plan is looked at, in every view: it stands in the address. */
import { useSearchParams } from "react-router";

import type { State } from "../../api/schema.gen";
import { TASK_STATES, useParam } from "../../kit";

export const VIEWS = ["graph", "board", "list", "timeline"] as const;
export type View = (typeof VIEWS)[number];

export interface Selection {
  readonly view: View;
  readonly setView: (view: View) => void;
  readonly words: string;
  readonly setWords: (words: string) => void;
  readonly state: State | null;
  readonly setState: (state: State | null) => void;
  readonly task: string | null;
  readonly setTask: (task: string | null) => void;
  readonly clear: () => void;
}

export function useSelection(): Selection {
  const [view, setView] = useParam("view", "graph");
  const [words, setWords] = useParam("q");
  const [state, setState] = useParam("state");
  const [task, setTask] = useParam("task");
  const [, setSearch] = useSearchParams();
  return {
    view: VIEWS.find((each) => each === view) ?? "graph",
    setView,
    words,
    setWords,
    state: TASK_STATES.find((each) => each === state) ?? null,
    setState: (wanted) => setState(wanted ?? ""),
    task: task || null,
    setTask: (wanted) => setTask(wanted ?? ""),
    clear: () =>
      setSearch(
        (current) => {
          const next = new URLSearchParams(current);
          next.delete("q");
          next.delete("state");
          return next;
        },
        { replace: true },
      ),
  };
}

/** More levels of goals than any plan shows. */
export const DEEPEST = 1000;

export interface Folds {
  readonly fold: readonly string[];
  readonly unfold: readonly string[];
  readonly depth: number | undefined;
  readonly toggle: (goal: string, isOpen: boolean) => void;
  readonly toDepth: (depth: number) => void;
}

/** Which goals of the graph are folded. */
export function useFolds(): Folds {
  const [search, setSearch] = useSearchParams();
  const depth = search.get("depth");
  const change = (edit: (next: URLSearchParams) => void) =>
    setSearch(
      (current) => {
        const next = new URLSearchParams(current);
        edit(next);
        return next;
      },
      { replace: true },
    );
  return {
    fold: search.getAll("fold"),
    unfold: search.getAll("unfold"),
    depth: depth && /^\d{1,4}$/.test(depth) ? Math.min(DEEPEST, Number(depth)) : undefined,
    toggle: (goal, isOpen) =>
      change((next) => {
        next.delete("fold", goal);
        next.delete("unfold", goal);
        next.append(isOpen ? "fold" : "unfold", goal);
      }),
    toDepth: (wanted) =>
      change((next) => {
        next.delete("fold");
        next.delete("unfold");
        next.set("depth", String(wanted));
      }),
  };
}
