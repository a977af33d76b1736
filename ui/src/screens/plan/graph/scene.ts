/** The picture of a plan as the canvas needs it: boxes, arrows, and the states in them. */
import type { PlanLayoutView, PlanStatesView, State } from "../../../api/schema.gen";

export interface Box {
  readonly at: number; // its place among the boxes
  readonly id: string;
  readonly title: string;
  readonly kind: string; // GOAL, ACTION or CHECK
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly isFrame: boolean; // an open goal, around its parts
  readonly level: number;
  readonly home: number; // the frame it stands in; -1: none
  readonly parts: number;
  readonly hidden: number; // tasks that are folded into it
}

export interface Arrow {
  readonly source: number;
  readonly target: number;
  readonly tie: string;
  readonly points: readonly number[]; // x and y in turn
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface Scene {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly arrows: readonly Arrow[];
  readonly byId: ReadonlyMap<string, Box>;
  readonly shownAs: readonly number[]; // the box of each task of the plan
  readonly ids: readonly string[];
  readonly order: readonly Box[]; // as a person reads it: a goal, then its parts
}

/** The state of each box, and how many tasks of each state are folded into it. */
export interface BoxStates {
  readonly own: readonly (State | undefined)[];
  readonly folded: ReadonlyMap<number, Partial<Record<State, number>>>;
}

export function sceneOf(layout: PlanLayoutView): Scene {
  const { boxes: columns, arrows } = layout;
  const boxes = columns.task.map((task, at): Box => ({
    at,
    id: layout.ids[task] ?? "",
    title: columns.title[at] ?? "",
    kind: columns.kind[at] ?? "",
    x: columns.x[at] ?? 0,
    y: columns.y[at] ?? 0,
    width: columns.width[at] ?? 0,
    height: columns.height[at] ?? 0,
    isFrame: (columns.inset[at] ?? 0) > 0,
    level: columns.level[at] ?? 0,
    home: columns.home[at] ?? -1,
    parts: columns.parts[at] ?? 0,
    hidden: columns.hidden[at] ?? 0,
  }));
  return {
    width: layout.width,
    height: layout.height,
    boxes,
    arrows: arrows.points.map((points, at) =>
      arrowOf(points, arrows.source[at] ?? 0, arrows.target[at] ?? 0, arrows.tie[at] ?? ""),
    ),
    byId: new Map(boxes.map((box) => [box.id, box])),
    shownAs: layout.shown_as,
    ids: layout.ids,
    order: readingOrder(boxes),
  };
}

function arrowOf(points: readonly number[], source: number, target: number, tie: string): Arrow {
  let left = Infinity;
  let top = Infinity;
  let right = -Infinity;
  let bottom = -Infinity;
  for (let at = 0; at < points.length; at += 2) {
    const x = points[at] ?? 0;
    const y = points[at + 1] ?? 0;
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return { source, target, tie, points, left, top, right, bottom };
}

function readingOrder(boxes: readonly Box[]): Box[] {
  const inside = new Map<number, Box[]>();
  for (const box of boxes) {
    const siblings = inside.get(box.home);
    if (siblings) siblings.push(box);
    else inside.set(box.home, [box]);
  }
  for (const siblings of inside.values()) siblings.sort((a, b) => a.y - b.y || a.x - b.x);
  const order: Box[] = [];
  const waiting = [...(inside.get(-1) ?? [])].reverse();
  for (let box = waiting.pop(); box !== undefined; box = waiting.pop()) {
    order.push(box);
    waiting.push(...[...(inside.get(box.at) ?? [])].reverse());
  }
  return order;
}

export function boxStatesOf(scene: Scene, states: PlanStatesView | undefined): BoxStates {
  const own: (State | undefined)[] = new Array<State | undefined>(scene.boxes.length);
  const folded = new Map<number, Partial<Record<State, number>>>();
  if (!states) return { own, folded };
  scene.ids.forEach((id, place) => {
    const state = states.names[states.states[place] ?? -1] as State | undefined;
    const box = scene.boxes[scene.shownAs[place] ?? -1];
    if (!state || !box) return;
    if (box.id === id) own[box.at] = state;
    else {
      const counts = folded.get(box.at) ?? {};
      counts[state] = (counts[state] ?? 0) + 1;
      folded.set(box.at, counts);
    }
  });
  return { own, folded };
}

/** The innermost box at a point. */
export function boxAt(scene: Scene, x: number, y: number): Box | null {
  for (let at = scene.boxes.length - 1; at >= 0; at -= 1) {
    const box = scene.boxes[at];
    if (!box) continue;
    const isInside = x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
    if (isInside && (!box.isFrame || y <= box.y + HEADER)) return box;
  }
  return null;
}

/** The height of a frame's title. */
export const HEADER = 30;

/** The nearest box in a direction, for the arrow keys. */
export function neighbour(scene: Scene, from: Box, dx: number, dy: number): Box | null {
  const fromX = from.x + from.width / 2;
  const fromY = from.isFrame ? from.y + HEADER / 2 : from.y + from.height / 2;
  let best: Box | null = null;
  let least = Infinity;
  for (const box of scene.boxes) {
    if (box === from) continue;
    const x = box.x + box.width / 2 - fromX;
    const y = (box.isFrame ? box.y + HEADER / 2 : box.y + box.height / 2) - fromY;
    const along = x * dx + y * dy;
    const across = Math.abs(x * dy) + Math.abs(y * dx);
    if (along <= 4) continue;
    const distance = along + 2 * across;
    if (distance < least) {
      least = distance;
      best = box;
    }
  }
  return best;
}
