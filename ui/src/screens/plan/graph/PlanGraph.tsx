import { ActionIcon, Group, Text, useComputedColorScheme } from "@mantine/core";
import { IconMaximize, IconMinus, IconPlus } from "@tabler/icons-react";
import {
  type KeyboardEvent,
  type PointerEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";

import { useTexts } from "../../../i18n";
import { Tooltip } from "../../../kit";
import { texts } from "../texts";
import {
  beginning,
  between,
  type Camera,
  fitting,
  panned,
  showing,
  type Size,
  zoomed,
} from "./camera";
import { draw, type Palette, readPalette } from "./draw";
import { Minimap } from "./Minimap";
import { type Box, boxAt, type BoxStates, neighbour, type Scene } from "./scene";

const SETTLED = 160;
const GLIDE = 220;

interface GraphProps {
  readonly scene: Scene;
  readonly states: BoxStates;
  readonly selected: string | null;
  readonly fits: (box: Box) => boolean;
  readonly onSelect: (id: string | null) => void;
  readonly onToggle: (box: Box) => void;
  readonly label: string;
}

/** The plan on a canvas. The same tasks stand in the outline beside it, for every reader. */
export function PlanGraph(props: GraphProps) {
  const { scene, states, selected, fits } = props;
  const t = useTexts(texts);
  const scheme = useComputedColorScheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [hovered, setHovered] = useState<string | null>(null);
  const palette = useRef<Palette | null>(null);
  const frame = useRef(0);
  const latest = useRef({ scene, states, selected, fits, hovered, size });
  latest.current = { scene, states, selected, fits, hovered, size };

  const paint = useCallback((camera: Camera, isMoving: boolean) => {
    const context = canvas.current?.getContext("2d", { alpha: false });
    const { size: window } = latest.current;
    if (!context || window.width === 0) return;
    palette.current ??= readPalette();
    const ratio = Math.min(2, globalThis.devicePixelRatio || 1);
    draw(context, { ...latest.current, camera, ratio, palette: palette.current, isMoving });
  }, []);
  const look = useCamera(paint, latest);

  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const watcher = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = element;
      const ratio = Math.min(2, globalThis.devicePixelRatio || 1);
      element.width = Math.round(width * ratio);
      element.height = Math.round(height * ratio);
      setSize({ width, height });
    });
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  useEffect(() => {
    palette.current = null;
  }, [scheme]);
  useEffect(() => {
    look.begin(scene, size);
  }, [look, scene, size]);
  useEffect(() => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => look.repaint());
  }, [look, scene, states, selected, fits, hovered, size, scheme]);
  useEffect(() => {
    const box = selected === null ? undefined : latest.current.scene.byId.get(selected);
    if (box) look.show(box);
  }, [look, selected]);

  const pointer = usePointer(canvas, look, latest, props, setHovered);
  const press = (event: KeyboardEvent) => {
    if (pressed(event.key, latest.current.scene, props, look)) event.preventDefault();
  };
  return (
    <div className="graph">
      <canvas
        ref={canvas}
        tabIndex={0}
        role="img"
        aria-label={`${props.label}. ${t.graphKeys}`}
        style={{ cursor: hovered ? "pointer" : "grab" }}
        onKeyDown={press}
        {...pointer}
      />
      <Group gap={4} className="graph-tools">
        <Tool label={t.zoomOut} run={() => look.zoom(1 / 1.35)} icon={IconMinus} />
        <Tool label={t.zoomIn} run={() => look.zoom(1.35)} icon={IconPlus} />
        <Tool label={t.fit} run={() => look.fit()} icon={IconMaximize} />
      </Group>
      <Minimap scene={scene} states={states} look={look} size={size} scheme={scheme} />
      <Text className="graph-hint" size="xs" c="dimmed">
        {t.graphHint}
      </Text>
    </div>
  );
}

function Tool(props: { label: string; run: () => void; icon: typeof IconPlus }) {
  const { label, run, icon: Icon } = props;
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" aria-label={label} onClick={run}>
        <Icon size={16} />
      </ActionIcon>
    </Tooltip>
  );
}

interface Latest {
  readonly scene: Scene;
  readonly size: Size;
}

export interface Look {
  readonly camera: () => Camera;
  readonly watch: (watcher: () => void) => () => void;
  readonly set: (camera: Camera) => void;
  readonly repaint: () => void;
  readonly begin: (scene: Scene, size: Size) => void;
  readonly show: (box: Box) => void;
  readonly zoom: (by: number, x?: number, y?: number) => void;
  readonly pan: (dx: number, dy: number) => void;
  readonly fit: () => void;
  readonly hold: (box: Box) => void; // where it is, when the picture changes
}

/** The camera lives outside React: it moves sixty times a second. */
function useCamera(
  paint: (camera: Camera, isMoving: boolean) => void,
  latest: { readonly current: Latest },
): Look {
  return useMemo(() => {
    let camera: Camera = { x: 0, y: 0, scale: 1 };
    let begun: Scene | null = null;
    let held: { id: string; x: number; y: number } | null = null;
    let timer = 0;
    let animation = 0;
    let isQueued = false;
    const watchers = new Set<() => void>();

    const later = () => {
      if (isQueued) return;
      isQueued = true;
      requestAnimationFrame(() => {
        isQueued = false;
        paint(camera, true);
        for (const watcher of watchers) watcher();
      });
      clearTimeout(timer);
      timer = window.setTimeout(() => paint(camera, false), SETTLED);
    };
    const set = (next: Camera) => {
      cancelAnimationFrame(animation);
      camera = next;
      later();
    };
    const glide = (to: Camera) => {
      cancelAnimationFrame(animation);
      const from = camera;
      const start = performance.now();
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) return set(to);
      const step = (now: number) => {
        const part = Math.min(1, Math.max(0, (now - start) / GLIDE));
        camera = between(from, to, part);
        later();
        if (part < 1) animation = requestAnimationFrame(step);
      };
      animation = requestAnimationFrame(step);
    };
    const middle = () => {
      const { size } = latest.current;
      return [size.width / 2, size.height / 2] as const;
    };
    return {
      camera: () => camera,
      watch: (watcher) => {
        watchers.add(watcher);
        return () => watchers.delete(watcher);
      },
      set,
      repaint: () => {
        paint(camera, false);
        for (const watcher of watchers) watcher();
      },
      begin: (scene, size) => {
        if (size.width === 0) return;
        const box = held === null ? undefined : scene.byId.get(held.id);
        if (held && box && begun !== scene) {
          camera = { ...camera, x: camera.x + box.x - held.x, y: camera.y + box.y - held.y };
        } else if (begun === null) camera = beginning(scene, size);
        held = null;
        begun = scene;
      },
      show: (box) => {
        const to = showing(camera, latest.current.size, box);
        if (to.x !== camera.x || to.y !== camera.y || to.scale !== camera.scale) glide(to);
      },
      zoom: (by, x, y) => {
        const [middleX, middleY] = middle();
        set(zoomed(camera, by, x ?? middleX, y ?? middleY));
      },
      pan: (dx, dy) => set(panned(camera, dx, dy)),
      fit: () => glide(fitting(latest.current.scene, latest.current.size)),
      hold: (box) => {
        held = { id: box.id, x: box.x, y: box.y };
      },
    };
  }, [paint, latest]);
}

/** Dragging pans, two fingers and the wheel zoom, a click selects, a double click unfolds. */
function usePointer(
  canvas: { readonly current: HTMLCanvasElement | null },
  look: Look,
  latest: { readonly current: Latest },
  props: GraphProps,
  hover: (id: string | null) => void,
) {
  const fingers = useRef(new Map<number, { x: number; y: number }>());
  const travelled = useRef(0);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const turn = (event: WheelEvent) => {
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      const by = Math.exp(-Math.max(-90, Math.min(90, event.deltaY)) * 0.0032);
      if (event.shiftKey) look.pan(-event.deltaY - event.deltaX, 0);
      else look.zoom(by, event.clientX - left, event.clientY - top);
    };
    element.addEventListener("wheel", turn, { passive: false });
    return () => element.removeEventListener("wheel", turn);
  }, [canvas, look]);

  const boxBelow = (event: PointerEvent | React.MouseEvent): Box | null => {
    const bounds = canvas.current?.getBoundingClientRect();
    if (!bounds) return null;
    const camera = look.camera();
    const x = camera.x + (event.clientX - bounds.left) / camera.scale;
    const y = camera.y + (event.clientY - bounds.top) / camera.scale;
    return boxAt(latest.current.scene, x, y);
  };
  return {
    onPointerDown: (event: PointerEvent) => {
      canvas.current?.setPointerCapture(event.pointerId);
      fingers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (fingers.current.size === 1) travelled.current = 0;
    },
    onPointerMove: (event: PointerEvent) => {
      const before = fingers.current.get(event.pointerId);
      if (!before) return hover(boxBelow(event)?.id ?? null);
      const others = [...fingers.current].filter(([id]) => id !== event.pointerId);
      const now = { x: event.clientX, y: event.clientY };
      fingers.current.set(event.pointerId, now);
      const dx = now.x - before.x;
      const dy = now.y - before.y;
      travelled.current += Math.abs(dx) + Math.abs(dy);
      const other = others[0]?.[1];
      const bounds = canvas.current?.getBoundingClientRect();
      if (other && bounds) {
        const was = Math.hypot(before.x - other.x, before.y - other.y);
        const is = Math.hypot(now.x - other.x, now.y - other.y);
        look.zoom(is / Math.max(1, was), other.x - bounds.left, other.y - bounds.top);
      } else look.pan(dx, dy);
    },
    onPointerUp: (event: PointerEvent) => {
      const wasOnly = fingers.current.size === 1;
      fingers.current.delete(event.pointerId);
      if (!wasOnly || travelled.current > 5) return;
      props.onSelect(boxBelow(event)?.id ?? null);
    },
    onPointerCancel: (event: PointerEvent) => void fingers.current.delete(event.pointerId),
    onPointerLeave: () => hover(null),
    onDoubleClick: (event: React.MouseEvent) => {
      const box = boxBelow(event);
      if (!box || box.parts === 0) return;
      look.hold(box);
      props.onToggle(box);
    },
  };
}

const DIRECTIONS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

function pressed(key: string, scene: Scene, props: GraphProps, look: Look): boolean {
  const box = props.selected === null ? undefined : scene.byId.get(props.selected);
  const direction = DIRECTIONS[key];
  if (direction) {
    const next = box ? neighbour(scene, box, ...direction) : scene.order[0];
    if (next) props.onSelect(next.id);
  } else if (key === "+" || key === "=") look.zoom(1.35);
  else if (key === "-") look.zoom(1 / 1.35);
  else if (key === "0") look.fit();
  else if (key === " " && box && box.parts > 0) {
    look.hold(box);
    props.onToggle(box);
  } else return false;
  return true;
}
