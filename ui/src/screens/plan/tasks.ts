/** The tasks of a plan by pages, as the selection wants them. */
import { filterOf } from "../../api/filters";
import { usePages } from "../../api/queries";
import type { State } from "../../api/schema.gen";

const PAGE = 100;

export function useTasks(plan: string, state: State | null, words: string) {
  const filter = filterOf({ plan, ...(state && { state }) }, words);
  return usePages("/v1/tasks", { query: { filter, limit: PAGE } });
}

export function taskPath(task: string, tab?: string): string {
  const path = `/tasks/${encodeURIComponent(task)}`;
  return tab ? `${path}?tab=${tab}` : path;
}
