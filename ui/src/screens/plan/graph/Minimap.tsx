import { useEffect, useMemo, useRef } from "react";

import { hueOf } from "../../../kit";
import type { Size } from "./camera";
import { readPalette } from "./draw";
import type { Look } from "./PlanGraph";
import type { BoxStates, Scene } from "./scene";

const WIDTH = 168;
const HEIGHT = 112;

interface MinimapProps {
  readonly scene: Scene;
  readonly states: BoxStates;
  readonly look: Look;
  readonly size: Size;
  readonly scheme: string;
}

/** The whole plan, small, and the part of it that is in view. Shown when that is not all. */
export function Minimap({ scene, states, look, size, scheme }: MinimapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scale = Math.min(WIDTH / scene.width, HEIGHT / scene.height);
  const picture = useMemo(
    () => pictureOf(scene, states, scale),
    // the colours of the picture are those of the scheme
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [scene, states, scale, scheme],
  );
  useEffect(() => {
    const { accent } = readPalette();
    const paint = () => {
      const element = canvas.current;
      const context = element?.getContext("2d");
      if (!element || !context) return;
      const camera = look.camera();
      const wide = size.width / camera.scale;
      const high = size.height / camera.scale;
      const isAll = wide >= scene.width && high >= scene.height;
      element.style.visibility = isAll ? "hidden" : "visible";
      context.clearRect(0, 0, element.width, element.height);
      context.drawImage(picture, 0, 0);
      context.strokeStyle = accent;
      context.lineWidth = 2;
      context.strokeRect(camera.x * scale, camera.y * scale, wide * scale, high * scale);
    };
    paint();
    return look.watch(paint);
  }, [look, picture, scale, scene, size]);

  const go = (event: React.PointerEvent) => {
    if (event.buttons !== 1) return;
    const bounds = event.currentTarget.getBoundingClientRect();
    const camera = look.camera();
    const x = (event.clientX - bounds.left) / scale - size.width / camera.scale / 2;
    const y = (event.clientY - bounds.top) / scale - size.height / camera.scale / 2;
    look.set({ ...camera, x, y });
  };
  return (
    <canvas
      ref={canvas}
      className="minimap"
      aria-hidden
      width={Math.max(1, Math.round(scene.width * scale))}
      height={Math.max(1, Math.round(scene.height * scale))}
      onPointerDown={go}
      onPointerMove={go}
    />
  );
}

function pictureOf(scene: Scene, states: BoxStates, scale: number): HTMLCanvasElement {
  const element = document.createElement("canvas");
  element.width = Math.max(1, Math.round(scene.width * scale));
  element.height = Math.max(1, Math.round(scene.height * scale));
  const context = element.getContext("2d");
  if (!context) return element;
  const palette = readPalette();
  for (const box of scene.boxes) {
    context.fillStyle = box.isFrame
      ? palette.frame
      : palette.states[hueOf(states.own[box.at] ?? "PENDING")].strong;
    const width = Math.max(1, box.width * scale);
    const height = Math.max(1, box.height * scale);
    context.fillRect(box.x * scale, box.y * scale, width, height);
  }
  return element;
}
