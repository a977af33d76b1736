"""Write every screen, light and dark, at desktop and phone width: `make screenshots`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

from playwright.sync_api import Browser

from accordance.service.project import open_project
from tests.messages import small_plan
from tests.server.stage import Served, serving
from tests.service.conftest import brings
from tests.ui.browser import open_browser, why_not

FOLDER: Final = Path("screenshots")
SIZES: Final = {"desktop": (1440, 900), "phone": (390, 844)}
Scheme = Literal["light", "dark"]
SCHEMES: Final[tuple[Scheme, ...]] = ("light", "dark")


@dataclass(frozen=True)
class Shot:
    """A screen: what its picture is called, its address, what is awaited on it."""

    name: str
    path: str
    awaited: str = "h1"


PLAN: Final = f"/plans/{small_plan()['plan']['plan_id']}"
SHOTS: Final = (
    Shot("runs", "/runs", "[data-item]"),
    Shot("plan-graph", f"{PLAN}?task=a", "[data-panel]"),
    Shot("plan-board", f"{PLAN}?view=board", "[data-task]"),
    Shot("plan-list", f"{PLAN}?view=list", "[data-task]"),
    Shot("plan-timeline", f"{PLAN}?view=timeline"),
    Shot("inbox", "/inbox"),
    Shot("dead-letters", "/dead-letters"),
    Shot("contracts", "/contracts"),
    Shot("research", "/research"),
    Shot("settings", "/settings"),
)


def shoot(browser: Browser, served: Served, shot: Shot) -> Iterator[Path]:
    """Write the pictures of a screen."""
    key = served.key("admin")
    for scheme in SCHEMES:
        for size, (width, height) in SIZES.items():
            window = browser.new_context(
                locale="en-GB",
                color_scheme=scheme,
                viewport={"width": width, "height": height},
            )
            page = window.new_page()
            page.goto(f"{served.url}{shot.path}#key={key}")
            page.wait_for_selector(shot.awaited)
            # live data keeps a request open, so no quiet network can be awaited
            page.wait_for_timeout(400)
            path = FOLDER / f"{shot.name}-{size}-{scheme}.png"
            page.screenshot(path=path)
            window.close()
            yield path


def main(names: list[str]) -> int:
    """Write the pictures of some screens, or of all."""
    reason = why_not()
    if reason is not None:
        print(f"screenshots: {reason}", file=sys.stderr)
        return 1
    FOLDER.mkdir(exist_ok=True)
    wanted = [shot for shot in SHOTS if not names or shot.name in names]
    with (
        TemporaryDirectory() as folder,
        open_project(Path(folder), create=True) as home,
    ):
        brings(home, small_plan())
        with serving(home) as served, open_browser() as browser:
            for shot in wanted:
                for path in shoot(browser, served, shot):
                    print(path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
