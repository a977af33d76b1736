"""What tools leave behind: which paths that is, and what the gates make of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accordance.contracts.pins import Pins
from accordance.domain.case import Case
from accordance.domain.case import scope_of as scope_of_task
from accordance.domain.facts import (
    WITH_LEFT_OUT,
    ChangeKind,
    PatchFacts,
    PathChange,
    SelftestFacts,
)
from accordance.domain.findings import Gate
from accordance.domain.left_out import IGNORED, LeftOut, cache_in
from accordance.domain.scope import PathScope
from accordance.gates.notices import notices
from accordance.gates.running import GATES
from tests.unit.cases import FACTS, a_case, a_submit, a_task, some_evidence

BASE = frozenset(("Cargo.toml", "crates/inner/Cargo.toml"))


@pytest.mark.parametrize(
    ("path", "tool"),
    [
        ("__pycache__/", "Python"),
        ("src/app/__pycache__/", "Python"),
        (".pytest_cache/", "pytest"),
        ("web/node_modules/", "npm"),
        ("src/app.egg-info/", "setuptools"),
        ("target/", "Cargo"),
        ("crates/inner/target/", "Cargo"),
        ("docs/target/", ""),
        ("src/node_modules", ""),
        ("src/", ""),
        (".coverage", "coverage"),
        (".coverage.host.17.x", "coverage"),
        (".coveragerc", ""),
        ("src/app.pyc", ""),
    ],
)
def test_known_caches(path: str, tool: str) -> None:
    """By name, and by what stands beside them at the base; files and folders are told apart."""
    is_folder = path.endswith("/")
    known = cache_in(
        path.rstrip("/"), is_folder=is_folder, base=BASE, holds=lambda _: False
    )
    assert known == tool


@pytest.mark.parametrize("name", [".venv", "venv", "env/py3.13"])
def test_a_virtual_environment_is_known_by_what_it_holds(name: str) -> None:
    """Its name says nothing: a folder of sources may be called so."""
    real = cache_in(
        name, is_folder=True, base=BASE, holds=lambda at: at == "pyvenv.cfg"
    )
    empty = cache_in(name, is_folder=True, base=BASE, holds=lambda _: False)
    assert (real, empty) == ("a virtual environment", "")


BUILD = LeftOut("build", IGNORED, is_folder=True, files=("build/a.o", "build/b/c.o"))
VENV = LeftOut(".venv", "a virtual environment", is_folder=True)
DATA = LeftOut(".coverage", "coverage")


def test_what_it_covers() -> None:
    """A folder covers what is in it, a file only itself."""
    assert BUILD.covers("build")
    assert BUILD.covers("build/x/y")
    assert not BUILD.covers("builder")
    assert DATA.covers(".coverage")
    assert not DATA.covers(".coverage/x")


def left(
    *items: LeftOut, ignored: tuple[str, ...] = (), version: int = WITH_LEFT_OUT
) -> Case:
    """An honest case in whose tree this was left."""
    changes = replace(
        FACTS.changes,
        left_out=items,
        ignored=tuple(PathChange(path, ChangeKind.ADDED) for path in ignored),
    )
    return a_case(facts=replace(FACTS, changes=changes, version=version))


def scope_of(case: Case) -> list[tuple[str, tuple[str, ...]]]:
    """What the scope gate finds."""
    findings = GATES[Gate.SCOPE](case).findings
    return [(finding.code, finding.about) for finding in findings]


def test_nobody_is_blamed_for_it() -> None:
    """It is outside the allowed paths, and of no effect."""
    case = left(BUILD, VENV, DATA, ignored=("node_modules/x", "dist/x"))
    assert scope_of(case) == []
    assert notices(case) == (
        "left out of the change and of the tests' copy, because the base ignores it: build",
        "left out of the change and of the tests' copy, because tools make it anew: .venv, .coverage",
    )


def test_only_what_there_is_is_listed() -> None:
    """A tree without ignored files says nothing of them."""
    (notice,) = notices(left(DATA))
    assert notice.endswith("because tools make it anew: .coverage")
    assert notices(left()) == ()


@pytest.mark.parametrize(
    ("case", "path"),
    [
        pytest.param(
            left(replace(BUILD, files=("build/secrets/k",))),
            "build/secrets/k",
            id="in an ignored folder",
        ),
        pytest.param(
            left(LeftOut("src/secrets", IGNORED, is_folder=True)),
            "src/secrets",
            id="the folder itself",
        ),
        pytest.param(
            left(ignored=("dist/secrets/k",)), "dist/secrets/k", id="in a carried one"
        ),
        pytest.param(
            left(LeftOut("a/secrets/.coverage", "coverage")),
            "a/secrets/.coverage",
            id="a cache at a forbidden place",
        ),
    ],
)
def test_what_is_forbidden_stays_forbidden(case: Case, path: str) -> None:
    """Whether it is ignored or not."""
    assert scope_of(case) == [("SCOPE_CONFLICT", (path,))]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("build/secrets/key", "ROLE_POLICY_VIOLATION"),
        ("build/key", None),
        ("build/\x07", None),
    ],
)
def test_what_the_role_is_denied_stays_denied(path: str, code: str | None) -> None:
    """Also outside of what the pins allow; an odd name alone harms nobody there."""
    task = a_task(pins={"allowed_paths": ["src/**", "tests/**"]})
    case = left(replace(BUILD, files=(path,)))
    case = replace(case, task=task, scope=scope_of_task(task, case.role))
    codes = [found_code for found_code, _ in scope_of(case)]
    assert codes == ([] if code is None else [code])


def test_without_a_role_only_the_pins_forbid() -> None:
    """A scope needs no role."""
    scope = PathScope(Pins.of(["src/**"], ["**/x"]))
    assert scope.forbidding_rule("build/x") == "forbidden"
    assert scope.forbidding_rule("build/secrets/y") is None


def test_the_names_in_a_cache_are_the_tools_own() -> None:
    """A library may well have a folder of secrets; carried caches are no different."""
    assert scope_of(left(ignored=("node_modules/lib/secrets/x",))) == []


def test_earlier_facts_are_judged_by_their_own_rules() -> None:
    """What was a finding then is one when the bundle is judged again."""
    case = left(BUILD, ignored=("dist/x",), version=WITH_LEFT_OUT - 1)
    assert scope_of(case) == [("SCOPE_CONFLICT", ("dist/x",))]
    assert notices(case) == ()


def test_it_may_be_declared() -> None:
    """An agent that names what its tools left says nothing untrue, and nothing out of scope."""
    declared = [*sorted(FACTS.changes.paths()), "build/a.o"]
    submit = a_submit(changed_files=declared, new_files=[])
    case = a_case(submit=submit, facts=left(BUILD).facts)
    assert GATES[Gate.FILE_MATCH](case).findings == ()
    assert scope_of(case) == []


def test_an_empty_patch_that_misses_nothing() -> None:
    """No patch shows a submodule or a very large file, and a change may have no other parts."""
    patch_diff = {"size": 0}
    evidence = replace(some_evidence(patch_diff=patch_diff), patch=PatchFacts())
    case = a_case(facts=replace(FACTS, evidence=evidence))
    assert GATES[Gate.EVIDENCE](case).findings == ()


def test_what_accordance_made_is_told_apart() -> None:
    """A log of ours contradicts nobody: the tests do."""
    evidence = some_evidence(selftest_log={"ours": True}, report_md={"ours": True})
    evidence = replace(evidence, selftest=SelftestFacts(1))
    case = a_case(facts=replace(FACTS, evidence=evidence))
    assert GATES[Gate.EVIDENCE](case).findings == ()
    text = "made by accordance from facts, because the agent left it out: report_md, selftest_log"
    assert notices(case) == (text,)
    by_accordance = notices(replace(case, submitted_by="accordance"))
    assert text not in by_accordance
