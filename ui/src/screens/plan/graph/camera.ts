/** Where the canvas looks: the point of the picture at its corner, and how large. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

const SMALLEST = 0.01;
const LARGEST = 2.5;
const LARGEST_TO_FIT = 1.15;
const ROOM = 24;

export function fitting(picture: Size, window: Size): Camera {
  const wide = (window.width - 2 * ROOM) / Math.max(1, picture.width);
  const high = (window.height - 2 * ROOM) / Math.max(1, picture.height);
  const scale = clamp(Math.min(wide, high, LARGEST_TO_FIT));
  return {
    scale,
    x: picture.width / 2 - window.width / 2 / scale,
    y: picture.height / 2 - window.height / 2 / scale,
  };
}

/** The whole width where that can be read, from the top; else all of it. */
export function beginning(picture: Size, window: Size): Camera {
  const whole = fitting(picture, window);
  const readable = 0.62;
  if (whole.scale >= readable || picture.height <= window.height) return whole;
  const wide = clamp(
    Math.min((window.width - 2 * ROOM) / Math.max(1, picture.width), LARGEST_TO_FIT),
  );
  if (wide < readable) return whole;
  return { scale: wide, x: picture.width / 2 - window.width / 2 / wide, y: -ROOM / wide };
}

export function zoomed(camera: Camera, by: number, x: number, y: number): Camera {
  const scale = clamp(camera.scale * by);
  return {
    scale,
    x: camera.x + x / camera.scale - x / scale,
    y: camera.y + y / camera.scale - y / scale,
  };
}

export function panned(camera: Camera, dx: number, dy: number): Camera {
  return { ...camera, x: camera.x - dx / camera.scale, y: camera.y - dy / camera.scale };
}

export function between(from: Camera, to: Camera, part: number): Camera {
  const eased = 1 - (1 - part) ** 3;
  const mix = (a: number, b: number) => a + (b - a) * eased;
  return { x: mix(from.x, to.x), y: mix(from.y, to.y), scale: mix(from.scale, to.scale) };
}

/** The camera moved as little as shows a box. */
export function showing(
  camera: Camera,
  window: Size,
  box: { x: number; y: number; width: number; height: number },
): Camera {
  const scale = Math.max(camera.scale, 0.5);
  const wide = window.width / scale;
  const high = window.height / scale;
  const centred = scale !== camera.scale;
  const room = 30 / scale;
  const height = Math.min(box.height, high - 2 * room);
  let x = centred ? box.x + box.width / 2 - wide / 2 : camera.x;
  let y = centred ? box.y + height / 2 - high / 2 : camera.y;
  x = Math.min(Math.max(x, box.x + box.width + room - wide), box.x - room);
  y = Math.min(Math.max(y, box.y + height + room - high), box.y - room);
  return { x, y, scale };
}

function clamp(scale: number): number {
  return Math.min(LARGEST, Math.max(SMALLEST, scale));
}
