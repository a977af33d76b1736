"""Write every screen, light and dark, at desktop and phone width: `make screenshots`."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

from playwright.sync_api import Browser

from accordance.service.project import open_project
from tests.server.stage import Served, serving
from tests.ui.browser import open_browser, why_not
from tests.ui.showcase import CODED, RUN, build

FOLDER: Final = Path("screenshots")
SIZES: Final = {"desktop": (1440, 900), "phone": (390, 844)}
Scheme = Literal["light", "dark"]
SCHEMES: Final[tuple[Scheme, ...]] = ("light", "dark")
_SETTLED: Final = 700
"""Milliseconds: live data stays open, so no quiet network ever comes."""


@dataclass(frozen=True)
class Shot:
    """A screen: what its picture is called, and its address."""

    name: str
    path: str


def _tab(number: int, tab: str, more: str = "") -> Shot:
    return Shot(f"task-{tab}", f"/tasks/{CODED}{number}?tab={tab}{more}")


SHOTS: Final = (
    Shot("runs", "/runs"),
    Shot("plan", f"/plans/{RUN}"),
    Shot("plan-task", f"/plans/{RUN}?task={CODED}2"),
    Shot("plan-board", f"/plans/{RUN}?view=board"),
    Shot("plan-list", f"/plans/{RUN}?view=list"),
    Shot("plan-timeline", f"/plans/{RUN}?view=timeline"),
    Shot("plan-approval", "/plans/newsletter"),
    _tab(2, "verdict"),
    _tab(2, "messages", "&attempt=1"),
    _tab(1, "reviews"),
    _tab(2, "tests"),
    _tab(5, "diff"),
    _tab(2, "log"),
    _tab(2, "events"),
    _tab(2, "usage"),
    _tab(2, "compare"),
    Shot("inbox", "/inbox"),
    Shot("inbox-question", "/inbox?selected=1"),
    Shot("dead-letters", "/dead-letters"),
    Shot("contracts", "/contracts"),
    Shot("contracts-demands", "/contracts/scc.submit.v1?tab=demands"),
    Shot("contracts-schema", "/contracts/scc.submit.v1?tab=schema"),
    Shot("contracts-failures", "/contracts/scc.submit.v1?tab=failures"),
    Shot("research", "/research"),
    Shot("research-trends", "/research?tab=trends"),
    Shot("research-handoffs", "/research?tab=handoffs"),
    Shot("settings", "/settings"),
)


def shoot(browser: Browser, served: Served, shots: list[Shot]) -> Iterator[Path]:
    """Write the pictures of screens."""
    key = served.key("admin", name="you")
    for scheme in SCHEMES:
        for size, (width, height) in SIZES.items():
            window = browser.new_context(
                locale="en-GB",
                color_scheme=scheme,
                viewport={"width": width, "height": height},
            )
            page = window.new_page()
            page.goto(f"{served.url}/runs#key={key}")
            page.wait_for_selector("h1")
            for shot in shots:
                page.goto(f"{served.url}{shot.path}")
                page.wait_for_selector("h1")
                page.wait_for_timeout(_SETTLED)
                path = FOLDER / f"{shot.name}-{size}-{scheme}.png"
                page.screenshot(path=path)
                yield path
            window.close()


@contextlib.contextmanager
def _showcase(built: Path | None) -> Iterator[Served]:
    with TemporaryDirectory() as folder:
        home = built or Path(folder) / "accordance"
        if built is None:
            build(home)
        with open_project(home) as project, serving(project) as served:
            yield served


def main(arguments: list[str]) -> int:
    """Write the pictures of some screens, or of all."""
    parser = argparse.ArgumentParser(prog="screenshots")
    parser.add_argument("names", nargs="*", help="only these screens")
    parser.add_argument("--home", type=Path, help="a project of tests.ui.showcase")
    wanted = parser.parse_args(arguments)
    reason = why_not()
    if reason is not None:
        print(f"screenshots: {reason}", file=sys.stderr)
        return 1
    FOLDER.mkdir(exist_ok=True)
    shots = [shot for shot in SHOTS if not wanted.names or shot.name in wanted.names]
    with _showcase(wanted.home) as served, open_browser() as browser:
        for path in shoot(browser, served, shots):
            print(path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
