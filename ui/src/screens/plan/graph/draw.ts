/** Drawing a plan: as much detail as can be seen, and only what is in view. */
import type { State } from "../../../api/schema.gen";
import { hueOf, type Hue, TASK_STATES } from "../../../kit";
import type { Camera, Size } from "./camera";
import { type Arrow, type Box, type BoxStates, HEADER, type Scene } from "./scene";

export interface Palette {
  readonly page: string;
  readonly surface: string;
  readonly frame: string;
  readonly line: string;
  readonly arrow: string;
  readonly text: string;
  readonly dim: string;
  readonly accent: string;
  readonly states: Readonly<Record<Hue, { strong: string; soft: string }>>;
  readonly font: string;
}

export interface View {
  readonly scene: Scene;
  readonly states: BoxStates;
  readonly camera: Camera;
  readonly size: Size;
  readonly ratio: number; // pixels of the screen for each of the page
  readonly palette: Palette;
  readonly selected: string | null;
  readonly hovered: string | null;
  readonly fits: (box: Box) => boolean; // others are dimmed
  readonly isMoving: boolean;
}

const DETAILED = 0.5;
const TITLED = 0.3;
const ARROWED = 0.06;
const MOST_ARROWS_MOVING = 800;
const MOST_BOXES_MOVING = 1_500;
const PICTURE = 2_048; // pixels of its longer side
const RADIUS = 9;
const GLYPHS: Readonly<Record<State, string>> = {
  PENDING: "◌",
  READY: "○",
  IN_PROGRESS: "◐",
  READY_TO_CHECK: "◉",
  TO_BE_MODIFY: "✎",
  BLOCKED: "‖",
  FAILED: "✕",
  DONE: "✓",
  ABANDONED: "⊘",
  DEAD_LETTER: "☒",
};

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(name).trim();
  const hues: readonly Hue[] = ["done", "work", "check", "ready", "ask", "fail", "idle"];
  const states = Object.fromEntries(
    hues.map((hue) => [hue, { strong: read(`--state-${hue}`), soft: read(`--state-${hue}-soft`) }]),
  ) as Palette["states"];
  return {
    page: read("--page"),
    surface: read("--surface"),
    frame: read("--surface-2"),
    line: read("--line"),
    arrow: read("--arrow"),
    text: read("--text"),
    dim: read("--text-dim"),
    accent: read("--accent"),
    states,
    font: getComputedStyle(document.body).fontFamily,
  };
}

export function draw(context: CanvasRenderingContext2D, view: View): void {
  const { camera, size, ratio, palette } = view;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = palette.page;
  context.fillRect(0, 0, size.width, size.height);
  const zoom = ratio * camera.scale;
  context.setTransform(zoom, 0, 0, zoom, -camera.x * zoom, -camera.y * zoom);

  const seen = boxesInView(view);
  if (view.isMoving && seen.length > MOST_BOXES_MOVING && camera.scale < TITLED) {
    context.drawImage(pictureOf(view), 0, 0, view.scene.width, view.scene.height);
    drawSelection(context, view);
    return;
  }
  for (const box of seen) if (box.isFrame) drawFrame(context, view, box);
  drawArrows(context, view);
  if (camera.scale < TITLED) drawFar(context, view, seen);
  else for (const box of seen) if (!box.isFrame) drawBox(context, view, box);
  drawSelection(context, view);
}

interface Picture {
  readonly scene: Scene;
  readonly states: BoxStates;
  readonly fits: View["fits"];
  readonly palette: Palette;
  readonly canvas: HTMLCanvasElement;
}

let picture: Picture | null = null;

/** The whole plan as a picture, shown while the camera moves over thousands of boxes. */
function pictureOf(view: View): HTMLCanvasElement {
  const { scene, states, fits, palette } = view;
  const isSame =
    picture?.scene === scene &&
    picture.states === states &&
    picture.fits === fits &&
    picture.palette === palette;
  if (picture && isSame) return picture.canvas;
  const canvas = document.createElement("canvas");
  const scale = PICTURE / Math.max(scene.width, scene.height);
  canvas.width = Math.max(1, Math.round(scene.width * scale));
  canvas.height = Math.max(1, Math.round(scene.height * scale));
  const context = canvas.getContext("2d", { alpha: false });
  if (context) {
    const size = { width: canvas.width, height: canvas.height };
    draw(context, { ...view, camera: { x: 0, y: 0, scale }, size, ratio: 1, isMoving: false });
  }
  picture = { scene, states, fits, palette, canvas };
  return canvas;
}

function boxesInView({ scene, camera, size }: View): Box[] {
  const right = camera.x + size.width / camera.scale;
  const bottom = camera.y + size.height / camera.scale;
  return scene.boxes.filter(
    (box) =>
      box.x < right &&
      box.y < bottom &&
      box.x + box.width > camera.x &&
      box.y + box.height > camera.y,
  );
}

function drawFrame(context: CanvasRenderingContext2D, view: View, box: Box): void {
  const { palette, camera, states } = view;
  const isOdd = box.level % 2 === 1;
  context.fillStyle = isOdd ? palette.surface : palette.frame;
  context.strokeStyle = palette.line;
  context.lineWidth = Math.max(1, 0.7 / camera.scale);
  if (camera.scale < TITLED) {
    context.fillRect(box.x, box.y, box.width, box.height);
    context.strokeRect(box.x, box.y, box.width, box.height);
    return;
  }
  context.beginPath();
  context.roundRect(box.x, box.y, box.width, box.height, RADIUS + 3);
  context.fill();
  context.stroke();
  const state = states.own[box.at];
  if (state) {
    drawGlyph(context, view, state, box.x + 18, box.y + HEADER / 2 + 1);
    const title = oneLine(context, box.title, box.width - 64, `600 12px ${palette.font}`);
    context.fillStyle = palette.text;
    context.textBaseline = "middle";
    context.fillText(title, box.x + 32, box.y + HEADER / 2 + 1);
  }
}

function drawArrows(context: CanvasRenderingContext2D, view: View): void {
  const { scene, camera, palette, isMoving, selected } = view;
  if (camera.scale < ARROWED) return;
  const seen = arrowsInView(view);
  if (isMoving && seen.length > MOST_ARROWS_MOVING) return;
  context.lineJoin = "round";
  context.lineWidth = Math.min(4, Math.max(1.3, 0.7 / camera.scale));
  context.strokeStyle = palette.arrow;
  stroke(
    context,
    seen.filter((arrow) => arrow.tie !== "checks"),
    camera.scale,
  );
  context.setLineDash([5, 4]);
  stroke(
    context,
    seen.filter((arrow) => arrow.tie === "checks"),
    camera.scale,
  );
  context.setLineDash([]);

  const chosen = selected === null ? undefined : scene.byId.get(selected);
  if (!chosen) return;
  const own = seen.filter(({ source, target }) => source === chosen.at || target === chosen.at);
  context.strokeStyle = palette.accent;
  context.lineWidth *= 1.5;
  stroke(context, own, camera.scale);
}

function arrowsInView({ scene, camera, size }: View): Arrow[] {
  const right = camera.x + size.width / camera.scale;
  const bottom = camera.y + size.height / camera.scale;
  return scene.arrows.filter(
    (arrow) =>
      arrow.left < right && arrow.top < bottom && arrow.right > camera.x && arrow.bottom > camera.y,
  );
}

function stroke(context: CanvasRenderingContext2D, arrows: readonly Arrow[], scale: number): void {
  context.beginPath();
  for (const { points } of arrows) {
    context.moveTo(points[0] ?? 0, points[1] ?? 0);
    if (scale >= TITLED) roundedLine(context, points);
    else
      for (let at = 2; at < points.length; at += 2)
        context.lineTo(points[at] ?? 0, points[at + 1] ?? 0);
    if (scale >= TITLED) head(context, points);
  }
  context.stroke();
}

function roundedLine(context: CanvasRenderingContext2D, points: readonly number[]): void {
  const last = points.length - 2;
  for (let at = 2; at < last; at += 2) {
    const x = points[at] ?? 0;
    const y = points[at + 1] ?? 0;
    context.arcTo(x, y, points[at + 2] ?? 0, points[at + 3] ?? 0, 7);
  }
  context.lineTo(points[last] ?? 0, points[last + 1] ?? 0);
}

function head(context: CanvasRenderingContext2D, points: readonly number[]): void {
  const x = points[points.length - 2] ?? 0;
  const y = points[points.length - 1] ?? 0;
  context.moveTo(x - 4.5, y - 6);
  context.lineTo(x, y);
  context.lineTo(x + 4.5, y - 6);
}

/** Boxes so small that only their colour can be seen: one pass for each colour. */
function drawFar(context: CanvasRenderingContext2D, view: View, seen: readonly Box[]): void {
  const byColour = new Map<string, Box[]>();
  for (const box of seen) {
    if (box.isFrame) continue;
    const look = view.palette.states[hueOf(view.states.own[box.at] ?? "PENDING")];
    const key = view.fits(box) ? look.strong : look.soft;
    const boxes = byColour.get(key);
    if (boxes) boxes.push(box);
    else byColour.set(key, [box]);
  }
  for (const [colour, boxes] of byColour) {
    context.fillStyle = colour;
    for (const box of boxes) context.fillRect(box.x, box.y, box.width, box.height);
  }
}

function drawBox(context: CanvasRenderingContext2D, view: View, box: Box): void {
  const { palette, states, camera, hovered } = view;
  const state = states.own[box.at] ?? "PENDING";
  const look = palette.states[hueOf(state)];
  context.globalAlpha = view.fits(box) ? 1 : 0.28;
  if (box.hidden > 0 && camera.scale >= DETAILED) drawPile(context, view, box);
  context.beginPath();
  context.roundRect(box.x, box.y, box.width, box.height, RADIUS);
  context.fillStyle = camera.scale < DETAILED ? look.soft : palette.surface;
  context.fill();
  context.lineWidth = hovered === box.id ? 2 : 1.2;
  context.strokeStyle = hovered === box.id ? look.strong : palette.line;
  context.stroke();
  context.save();
  context.clip();
  context.fillStyle = look.strong;
  context.fillRect(box.x, box.y, 5, box.height);
  context.restore();
  drawWords(context, view, box, state);
  context.globalAlpha = 1;
}

/** The edge of further cards below a folded goal. */
function drawPile(context: CanvasRenderingContext2D, view: View, box: Box): void {
  const { palette } = view;
  for (const by of [6, 3]) {
    context.beginPath();
    context.roundRect(box.x + by, box.y + by, box.width, box.height, RADIUS);
    context.fillStyle = palette.surface;
    context.fill();
    context.lineWidth = 1;
    context.strokeStyle = palette.line;
    context.stroke();
  }
}

function drawWords(context: CanvasRenderingContext2D, view: View, box: Box, state: State): void {
  const { palette, states } = view;
  const font = `550 12.5px ${palette.font}`;
  const isFolded = box.hidden > 0;
  const lines = wrapped(context, box.title, box.width - 46, font, isFolded ? 1 : 2);
  const height = lines.length * 16 + (isFolded ? 20 : 0);
  let y = box.y + (box.height - height) / 2 + 8;
  drawGlyph(context, view, state, box.x + 20, box.y + box.height / 2);
  context.fillStyle = palette.text;
  context.font = font;
  context.textBaseline = "middle";
  for (const line of lines) {
    context.fillText(line, box.x + 35, y);
    y += 16;
  }
  const counts = states.folded.get(box.at);
  if (!isFolded || !counts) return;
  context.font = `500 11px ${palette.font}`;
  context.fillStyle = palette.dim;
  const words = `+${box.hidden}`;
  context.fillText(words, box.x + 35, y + 3);
  const start = box.x + 35 + context.measureText(words).width + 8;
  drawCounts(context, view, counts, start, y, box.x + box.width - 12 - start);
}

function drawCounts(
  context: CanvasRenderingContext2D,
  view: View,
  counts: Partial<Record<State, number>>,
  x: number,
  y: number,
  width: number,
): void {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  for (const state of TASK_STATES) {
    const count = counts[state];
    if (!count) continue;
    const part = (width * count) / all;
    context.fillStyle = view.palette.states[hueOf(state)].strong;
    const alpha = context.globalAlpha;
    if (state === "PENDING" || state === "ABANDONED") context.globalAlpha = alpha * 0.35;
    context.fillRect(x, y, Math.max(1.5, part - 1), 6);
    context.globalAlpha = alpha;
    x += part;
  }
}

function drawGlyph(
  context: CanvasRenderingContext2D,
  view: View,
  state: State,
  x: number,
  y: number,
): void {
  const look = view.palette.states[hueOf(state)];
  context.beginPath();
  context.arc(x, y, 8.5, 0, 2 * Math.PI);
  context.fillStyle = look.soft;
  context.fill();
  context.fillStyle = look.strong;
  context.font = `700 11px ${view.palette.font}`;
  context.textBaseline = "middle";
  context.textAlign = "center";
  context.fillText(GLYPHS[state], x, y + 0.5);
  context.textAlign = "start";
}

function drawSelection(context: CanvasRenderingContext2D, view: View): void {
  const { scene, selected, palette, camera } = view;
  const box = selected === null ? undefined : scene.byId.get(selected);
  if (!box) return;
  const width = Math.max(2.2, 2 / camera.scale);
  context.beginPath();
  context.roundRect(
    box.x - width,
    box.y - width,
    box.width + 2 * width,
    box.height + 2 * width,
    RADIUS + width,
  );
  context.lineWidth = width;
  context.strokeStyle = palette.accent;
  context.stroke();
}

// -- words on the canvas; measuring is slow, so what was measured is kept

const broken = new Map<string, readonly string[]>();
const MOST_BROKEN = 30_000;

function wrapped(
  context: CanvasRenderingContext2D,
  title: string,
  width: number,
  font: string,
  most: number,
): readonly string[] {
  const key = `${most}|${width}|${title}`;
  const known = broken.get(key);
  if (known) return known;
  context.font = font;
  const lines: string[] = [];
  let rest = plain(title);
  while (rest && lines.length < most) {
    const isLast = lines.length === most - 1;
    const line = isLast ? cut(context, rest, width) : firstLine(context, rest, width);
    lines.push(line.trim());
    rest = isLast ? "" : rest.slice(line.length).trimStart();
  }
  if (broken.size > MOST_BROKEN) broken.clear();
  broken.set(key, lines);
  return lines;
}

function oneLine(
  context: CanvasRenderingContext2D,
  title: string,
  width: number,
  font: string,
): string {
  const [line] = wrapped(context, title, width, font, 1);
  context.font = font;
  return line ?? "";
}

function firstLine(context: CanvasRenderingContext2D, text: string, width: number): string {
  const length = fittingLength(context, text, width);
  if (length >= text.length) return text;
  const space = text.lastIndexOf(" ", length);
  return text.slice(0, space > length / 2 ? space : length);
}

function cut(context: CanvasRenderingContext2D, text: string, width: number): string {
  const length = fittingLength(context, text, width);
  return length >= text.length ? text : `${text.slice(0, Math.max(1, length - 1)).trimEnd()}…`;
}

function fittingLength(context: CanvasRenderingContext2D, text: string, width: number): number {
  if (context.measureText(text.slice(0, 300)).width <= width) return Math.min(text.length, 300);
  let low = 0;
  let high = Math.min(text.length, 300);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (context.measureText(text.slice(0, middle)).width <= width) low = middle;
    else high = middle - 1;
  }
  return Math.max(1, low);
}

/** A title without what would turn the text of the canvas round. */
function plain(title: string): string {
  return title.replace(/[\u0000-\u001f\u007f\u202a-\u202e\u2066-\u2069]+/g, " ").trim();
}
