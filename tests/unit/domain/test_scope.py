"""Scope: pins, narrowed by the role, wherever links lead."""

from __future__ import annotations

import pytest

from accordance import Pins
from accordance.domain.scope import PathScope, real_path

ROLE = Pins.of(["docs/**", "src/**"], ["src/contracts/**"])


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("docs/a.md", "docs/a.md: allowed by **"),
        ("src/contracts/x", "src/contracts/x: role_deny by src/contracts/**"),
        ("lib/a.py", "lib/a.py: role_not_allowed"),
        ("docs/secret", "docs/secret: forbidden by docs/secret"),
        ("docs/.GIT/config", "docs/.GIT/config: forbidden by **/.git"),
        ("docs/.gitignore", "docs/.gitignore: allowed by **"),
        ("docs/.g\u200cit/config", "docs/.g\u200cit/config: forbidden by **/.git"),
        ("../x", "../x: unsafe_path"),
    ],
)
def test_pins_and_role(path: str, told: str) -> None:
    """A path must be allowed by both; the pins are asked first, and git's own files belong to nobody."""
    scope = PathScope(Pins.of(["**"], ["docs/secret"]), ROLE)
    assert str(scope.explain(path)) == told
    assert scope.rule(path) == scope.explain(path).rule


@pytest.mark.parametrize(
    ("pins", "role", "rule"),
    [
        pytest.param(Pins.of(["src/*"]), None, "not_allowed", id="the pins allow the files of src"),
        pytest.param(Pins.of(["src/**"]), Pins.of(["src/*"]), "role_not_allowed", id="the role may write the files of src"),
        pytest.param(Pins.of(["src/**"]), Pins.of(["**"], ["src/*"]), "role_deny", id="the role may not write below src"),
        pytest.param(Pins.of(["src/**"]), Pins.of(["src"]), "allowed", id="both allow the tree"),
    ],
)  # fmt: skip
def test_a_star_at_the_end_opens_no_tree(
    pins: Pins, role: Pins | None, rule: str
) -> None:
    """Neither in the pins nor in what a role may write; where a role must not write, it closes one."""
    assert PathScope(pins, role).rule("src/auth/keys.py") == rule


def test_a_role_that_writes_nothing() -> None:
    """Nothing is in its scope, whatever is pinned."""
    assert PathScope(Pins.of(["**"]), Pins.of(())).rule("a") == "role_not_allowed"


@pytest.mark.parametrize(
    ("links", "path", "told"),
    [
        ({"docs/link": "../src"}, "docs/link/k", "docs/link/k: not_allowed"),
        ({"docs/link": "../src"}, "docs/link", "docs/link: not_allowed"),
        ({"docs/link": "/etc"}, "docs/link/k", "docs/link/k: unsafe_path"),
        ({"docs/link": "../.."}, "docs/link/k", "docs/link/k: unsafe_path"),
        ({"docs/link": "link"}, "docs/link", "docs/link: unsafe_path"),
        ({"docs/link": "./other/.."}, "docs/link/k", "docs/link/k: allowed by docs/**"),
        (
            {"docs/a": "b", "docs/b": "private"},
            "docs/a/k",
            "docs/a/k: forbidden by docs/private/**",
        ),
        ({"elsewhere": "/etc"}, "docs/k", "docs/k: allowed by docs/**"),
        ({"docs/link": "../.git/hooks"}, "docs/link/k", "docs/link/k: not_allowed"),
        ({"src": "docs"}, "src/k", "src/k: not_allowed"),
    ],
)
def test_links_are_judged_where_they_lead(
    links: dict[str, str], path: str, told: str
) -> None:
    """The name and the real path must both be in scope; a link that leaves or leads nowhere is unsafe."""
    scope = PathScope(Pins.of(["docs/**"], ["docs/private/**"]))
    assert str(scope.explain(path, links)) == told


def test_real_path() -> None:
    """Links are followed as a kernel would, and no further than it would."""
    chain = {f"l{n}": f"l{n + 1}" for n in range(39)}
    assert real_path("l0/x", chain) == "l39/x"
    assert real_path("l0/x", chain | {"l39": "end"}) == "end/x"
    assert real_path("l0/x", chain | {"l39": "l40", "l40": "end"}) is None
    assert real_path("a/./b", {}) == "a/b"
