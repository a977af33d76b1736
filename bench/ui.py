"""The dashboard on a plan of 10,000 nodes, in headless Chromium without a GPU: `make bench-ui`.

    python -m bench.ui [--nodes N] [--seconds N] [--json]

frames       per second while the picture is panned, and while it is zoomed (its whole width in view), counted by
             requestAnimationFrame.
heap         of JavaScript, with the plan shown, after a garbage collection.
first paint  of the list of plans on loopback, in a browser with an empty cache; the median of several.
scripts      all files together, compressed.

The bars: 30 frames per second, a first paint within 1 s, 250 kB of scripts. A busy machine draws fewer
frames, so the median and the longest frame are printed as well.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Page, ViewportSize

from accordance.server.dashboard import BUNDLE
from accordance.service.project import open_project
from tests.messages import Message, edge, node, plan
from tests.server.stage import Served, serving
from tests.service.conftest import brings
from tests.ui.browser import open_browser, why_not

NODES: Final = 10_000
PARTS: Final = 50
"""Tasks of a goal."""
PAINTS: Final = 5
FRAMES: Final = 30.0
PAINT_MS: Final = 1_000.0
SCRIPT_BYTES: Final = 250_000
_LIMIT: Final = 180_000
_WINDOW: Final = ViewportSize(width=1440, height=900)
_COUNT: Final = """seconds => new Promise(done => {
  const times = [];
  const step = now => {
    times.push(now);
    if (now - times[0] < seconds * 1000) requestAnimationFrame(step);
    else done(times.slice(1).map((time, at) => time - times[at]));
  };
  requestAnimationFrame(step);
})"""


def plan_of(nodes: int) -> Message:
    """Return a goal for every fifty tasks, in rows of ten that wait for each other."""
    parts: list[Message] = [node("root", "GOAL", title="Everything")]
    edges: list[Message] = []
    goals = nodes // (PARTS + 1)
    for goal in range(goals):
        name = f"g{goal}"
        parts.append(node(name, "GOAL", title=f"Part {goal}"))
        edges.append(edge("root", name))
        for task in range(PARTS):
            part = f"{name}-{task}"
            parts.append(node(part, title=f"Task {task} of part {goal}"))
            edges.append(edge(name, part))
            if task >= 10:
                edges.append(edge(f"{name}-{task - 10}", part, "DEPENDS_ON"))
    return plan(parts, edges)


def frames(page: Page, seconds: float, *, zooms: bool) -> list[float]:
    """Return how long each frame took, in milliseconds, while the picture moves."""
    canvas = page.locator("canvas").first
    box = canvas.bounding_box()
    assert box is not None
    middle_x, middle_y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(middle_x, middle_y)
    page.evaluate(f"window.frames_ = ({_COUNT})({seconds})")
    if not zooms:
        page.mouse.down()
    for step in range(int(seconds * 40)):
        if zooms:
            page.mouse.wheel(0, 60 if step % 40 < 20 else -60)
        else:
            page.mouse.move(middle_x + (step * 7) % 200, middle_y + (step * 5) % 120)
        page.wait_for_timeout(1_000 / 60)
    if not zooms:
        page.mouse.up()
    taken: list[float] = page.evaluate("window.frames_")
    return taken


def first_paint(browser: Browser, served: Served, key: str) -> float:
    """Return the milliseconds until the first content is painted, with an empty cache."""
    window = browser.new_context(viewport=_WINDOW)
    page = window.new_page()
    page.goto(f"{served.url}/runs#key={key}")
    page.wait_for_selector("h1")
    painted: float = page.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    )
    window.close()
    return painted


def heap_mib(page: Page) -> float:
    """Return the heap of a page in MiB, after a collection."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    usage: dict[str, Any] = session.send("Runtime.getHeapUsage")
    return float(usage["usedSize"]) / (1 << 20)


def rate(taken: list[float]) -> dict[str, float]:
    """Return frames per second, the median and the longest frame."""
    return {
        "per_second": 1_000 * len(taken) / sum(taken),
        "median_ms": statistics.median(taken),
        "longest_ms": max(taken),
    }


def measure(served: Served, message: Message, seconds: float) -> dict[str, Any]:
    """Measure everything."""
    key = served.key("admin")
    number = message["plan"]["plan_id"]
    with open_browser() as browser:
        paints = [first_paint(browser, served, key) for _ in range(PAINTS)]
        page = browser.new_page(viewport=_WINDOW)
        page.set_default_timeout(_LIMIT)
        page.goto(f"{served.url}/runs#key={key}")
        page.wait_for_selector("h1")
        page.goto(f"{served.url}/plans/{number}")
        page.wait_for_selector("[role=treeitem]")
        page.get_by_role("button", name="Unfold all").click()
        page.wait_for_timeout(3_000)
        return {
            "nodes": len(message["nodes"]),
            "panning": rate(frames(page, seconds, zooms=False)),
            "zooming": rate(frames(page, seconds, zooms=True)),
            "heap_mib": heap_mib(page),
            "first_paint_ms": statistics.median(paints),
            "script_bytes": sum(
                path.stat().st_size for path in BUNDLE.rglob("*.js.gz")
            ),
        }


def show(measured: dict[str, Any]) -> None:
    """Print the measurements with their bars."""
    print(f"{measured['nodes']:,} nodes, Chromium without a GPU")
    for name in ("panning", "zooming"):
        shown = measured[name]
        print(
            f"{name:12} {shown['per_second']:7.1f} frames a second (bar {FRAMES:.0f}), "
            f"median {shown['median_ms']:.0f} ms, longest {shown['longest_ms']:.0f} ms"
        )
    print(f"{'heap':12} {measured['heap_mib']:7.1f} MiB")
    paint = measured["first_paint_ms"]
    print(f"{'first paint':12} {paint:7.0f} ms (bar {PAINT_MS:.0f})")
    size = measured["script_bytes"] / 1_000
    print(f"{'scripts':12} {size:7.1f} kB (bar {SCRIPT_BYTES / 1_000:.0f})")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    reason = why_not()
    if reason is not None:
        print(f"bench/ui: {reason}", file=sys.stderr)
        return 1
    message = plan_of(arguments.nodes)
    with (
        tempfile.TemporaryDirectory() as folder,
        open_project(Path(folder), create=True) as project,
    ):
        brings(project, message)
        with serving(project) as served:
            measured = measure(served, message, arguments.seconds)
    if arguments.json:
        print(json.dumps(measured, indent=2))
    else:
        show(measured)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
