/** When each task was in work or in review, from the events of its plan. */
import type { EventView, State } from "../../../api/schema.gen";

export interface Stretch {
  readonly task: string;
  readonly state: State; // IN_PROGRESS or READY_TO_CHECK
  readonly number: number; // of the attempt
  readonly from: number;
  readonly until: number | null; // null: it goes on
  readonly next: State | null; // what it became
  readonly outcome: string | null;
  readonly reason: string | null;
}

export interface History {
  readonly rows: ReadonlyMap<string, readonly Stretch[]>; // by task, the earliest first
  readonly from: number;
  readonly until: number;
}

const BUSY: readonly string[] = ["IN_PROGRESS", "READY_TO_CHECK"];

type Open = { -readonly [K in keyof Stretch]: Stretch[K] };

export function historyOf(events: readonly EventView[], now: number): History {
  const rows = new Map<string, Open[]>();
  let from = Infinity;
  let until = -Infinity;
  for (const event of events) {
    if (!event.task_id) continue;
    const stretches = rows.get(event.task_id) ?? [];
    const last = stretches.at(-1);
    if (event.kind === "VERDICT" && last) {
      last.outcome = textOf(event.payload["outcome"]);
      last.reason = textOf(event.payload["reason_code"]);
    }
    const next = textOf(event.payload["to"]) as State | null;
    if (next === null || typeof event.payload["from"] !== "string") continue;
    const at = Date.parse(event.at);
    if (last && last.until === null && next !== last.state) {
      last.until = at;
      last.next = next;
    }
    if (!BUSY.includes(next) || (last && last.until === null)) continue;
    const isNew = next === "IN_PROGRESS";
    const number = (last?.number ?? 0) + (isNew || !last ? 1 : 0);
    stretches.push({
      task: event.task_id,
      state: next,
      number,
      from: at,
      until: null,
      next: null,
      outcome: null,
      reason: null,
    });
    rows.set(event.task_id, stretches);
    from = Math.min(from, at);
  }
  for (const stretches of rows.values())
    for (const stretch of stretches) until = Math.max(until, stretch.until ?? now);
  return { rows, from, until };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** A part of time as it is drawn: busy, or a pause that is cut short. */
export interface Piece {
  readonly from: number;
  readonly until: number;
  readonly start: number; // 0 to 1, where it is drawn
  readonly end: number;
  readonly isPause: boolean;
}

const PAUSE_SHARE = 0.12; // a pause longer than this part of the busy time is cut
const SHORTEST_PAUSE = 20_000;
const PAUSE_WIDTH = 0.035; // of the axis

/** The axis of time, without the pauses in which nothing happened. */
export function axisOf(history: History, now: number): readonly Piece[] {
  const busy = merged([...history.rows.values()].flat(), now);
  const total = busy.reduce((sum, [from, until]) => sum + until - from, 0);
  const longest = Math.max(SHORTEST_PAUSE, total * PAUSE_SHARE);
  const raw: { from: number; until: number; isPause: boolean }[] = [];
  for (const [from, until] of busy) {
    const last = raw.at(-1);
    if (last && from - last.until <= longest) last.until = until;
    else {
      if (last) raw.push({ from: last.until, until: from, isPause: true });
      raw.push({ from, until, isPause: false });
    }
  }
  const pauses = raw.filter((piece) => piece.isPause).length;
  const share = Math.min(PAUSE_WIDTH, 0.5 / Math.max(1, pauses));
  const shown = raw.reduce((sum, piece) => sum + (piece.isPause ? 0 : piece.until - piece.from), 0);
  const rest = 1 - pauses * share;
  let start = 0;
  return raw.map((piece) => {
    const width = piece.isPause ? share : (rest * (piece.until - piece.from)) / Math.max(1, shown);
    const drawn = { ...piece, start, end: start + width };
    start += width;
    return drawn;
  });
}

function merged(stretches: readonly Stretch[], now: number): [number, number][] {
  const sorted = [...stretches].sort((a, b) => a.from - b.from);
  const result: [number, number][] = [];
  for (const { from, until } of sorted) {
    const end = until ?? now;
    const last = result.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], end);
    else result.push([from, end]);
  }
  return result;
}

/** Where a time stands on the axis, from 0 to 1. */
export function placeOf(axis: readonly Piece[], time: number): number {
  for (const piece of axis) {
    if (time > piece.until) continue;
    const share = (time - piece.from) / Math.max(1, piece.until - piece.from);
    return piece.start + (piece.end - piece.start) * Math.max(0, share);
  }
  return 1;
}
