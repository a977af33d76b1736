"""Errors as data: a code that is each one's own, a text, a way out, and a category that decides the exit code."""

from __future__ import annotations

import ast
import pickle
import re
from collections import Counter

import pytest
from tools.errors_page import SOURCES, all_errors

from accordance.cli.exits import EXITS, Exit
from accordance.cli.ways_out import NOTHING, WAYS_OUT, line_of
from accordance.errors import (
    AccordanceError,
    CannotWrite,
    Category,
    Conflict,
    ContextTooLarge,
    ContractAlreadyRegistered,
    IllegalTransition,
    InvalidPhases,
    InvalidSettings,
    InvalidTScore,
    LedgerDamaged,
    NotAccepted,
    NotFound,
    TasksWait,
    UnknownRole,
    Unparseable,
)
from accordance.work.taking import NoTaskReason

CLASSES = sorted(all_errors(), key=lambda error: error.__qualname__)


@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.__name__)
def test_every_error_has_a_code_of_its_own(error: type[AccordanceError]) -> None:
    """Written in the class itself, so that a new class cannot inherit another one's by accident."""
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", vars(error)["code"])
    assert error.__doc__


def test_no_code_is_used_twice() -> None:
    """A code means one thing."""
    counts = Counter(error.code for error in CLASSES)
    assert max(counts.values()) == 1
    assert len(CLASSES) > 60  # all packages were looked at


EXIT_CODES = {
    "UnknownName": Exit.NOT_FOUND,
    "UnknownRole": Exit.NOT_FOUND,
    "NotFound": Exit.NOT_FOUND,
    "Conflict": Exit.CONFLICT,
    "IllegalTransition": Exit.CONFLICT,
    "LedgerMissing": Exit.NOT_FOUND,
    "LedgerUnreachable": Exit.NOT_FOUND,
    "LedgerAddress": Exit.USAGE,
    "LedgerDenied": Exit.AUTH,
    "LedgerDamaged": Exit.REJECTED,
    "LedgerBusy": Exit.CONFLICT,
    "LedgerUnavailable": Exit.USAGE,
    "LedgerTooOld": Exit.USAGE,
    "CannotWrite": Exit.USAGE,
    "InvalidSettings": Exit.USAGE,
    "NoExecutor": Exit.USAGE,
    "UnknownBase": Exit.USAGE,
    "IsolationUnavailable": Exit.USAGE,
}


@pytest.mark.parametrize(("name", "code"), EXIT_CODES.items())
def test_the_exit_code_of_an_error(name: str, code: Exit) -> None:
    """By its category; scripts rely on these."""
    (error,) = (error for error in CLASSES if error.__name__ == name)
    assert EXITS[error.category] is code


def test_every_category_has_an_exit_code() -> None:
    """So that no error can end a command without one."""
    assert EXITS.keys() == set(Category)


ERRORS = {
    "nothing but a text": (InvalidSettings("it is wrong"), "it is wrong", ""),
    "a way out as data": (Conflict("two wait", way_out="cancel both"), "two wait", "cancel both"),
    "a name like another": (UnknownRole("enginer", ["engineer"]), "unknown role 'enginer'", "did you mean engineer?"),
    "a name like no other": (UnknownRole("zzz", ["doc"]), "unknown role 'zzz'", "known: doc"),
    "nothing near": (NotFound("plan", "p", ["zzz"]), "no plan 'p'", ""),
    "something near": (NotFound("plan", "p1", ["p2"]), "no plan 'p1'", "did you mean p2?"),
    "a second definition": (
        ContractAlreadyRegistered("x.v1", "Other"),
        "'x.v1' is already registered for Other",
        "a version is never redefined: choose a new name, or use a separate Registry",
    ),
    "too much to tell": (
        ContextTooLarge(2000, 1000),
        "the agent's context needs 2,000 bytes, but only 1,000 are allowed",
        "split the task or raise its context budget",
    ),
    "a move": (IllegalTransition("DONE", "CLAIMED", ()), "CLAIMED is not possible for a task that is DONE", "that state is final"),
    "no room": (
        CannotWrite("x", OSError(28, "No space left on device")),
        "x: cannot be written (No space left on device)",
        "choose another place, or make this place writable",
    ),
    "a changed ledger": (LedgerDamaged("row 1"), "the ledger was changed from outside: row 1", "verify the ledger to see what else has changed"),
    "no score": (InvalidTScore("x", 2), "x: a T-score is a number from 0 to 1, got 2", ""),
    "no phase": (InvalidPhases("x", "y", 2), "x:y: got 2", ""),
    "no answer": (NotAccepted([1], "bad"), "no answer was accepted in 1 attempt; the last answer: bad", ""),
    "no JSON": (
        Unparseable("not_json", expected="an object", actual="prose"),
        "not_json at offset 0: expected an object, got prose",
        "",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("error", "text", "way_out"), ERRORS.values(), ids=ERRORS)
def test_text_and_way_out(error: AccordanceError, text: str, way_out: str) -> None:
    """Two parts, which make one line."""
    assert (error.text, error.way_out) == (text, way_out)
    assert str(error) == (f"{text}; {way_out}" if way_out else text)


def test_an_error_survives_being_written_down() -> None:
    """Engines keep the errors of their steps."""
    error = Conflict("two wait", way_out="cancel both")
    kept = pickle.loads(pickle.dumps(error))
    assert (kept.text, kept.way_out) == ("two wait", "cancel both")


def test_the_command_line_adds_its_options_by_code() -> None:
    """Each to an error that exists; all others are said as they are."""
    assert WAYS_OUT.keys() <= {error.code for error in CLASSES}
    assert line_of(TasksWait("b waits for a", way_out="cancel both")) == (
        "b waits for a; cancel both (--cascade, --excuse)"
    )
    assert line_of(Conflict("too late")) == "too late"
    assert NOTHING.keys() <= set(NoTaskReason.__members__)


OPTION = re.compile(r"(?<![\w-])--[a-z]")
NOT_OURS = re.compile(
    r"diff --|npm (install|ci)|pip install|uv sync|cargo fetch|--format="
)  # options of other programs
KEPT = frozenset(
    (
        "domain/ruling.py",  # a question in the inbox, whose text is kept in the ledger
        "domain/hooks/git_script.py",  # a script, and a remark in it for people
        "domain/hooks/kinds.py",  # the command line that a hook calls
    )
)


@pytest.mark.parametrize(
    "package",
    [
        "errors",
        "contracts",
        "domain",
        "gates",
        "workspace",
        "store",
        "executors",
        "project",
        "judging",
        "work",
        "changes",
        "audit",
        "runtime",
    ],
)
def test_no_sentence_below_the_faces_names_an_option(package: str) -> None:
    """A server or an agent's tools have other ways out than the command line."""
    place = SOURCES / "accordance" / package
    for path in place.rglob("*.py"):
        if path.relative_to(SOURCES / "accordance").as_posix() in KEPT:
            continue
        for sentence in _sentences(ast.parse(path.read_text("utf-8"))):
            assert not OPTION.search(sentence) or NOT_OURS.search(sentence), (
                f"{path.name}: {sentence}"
            )


def _sentences(tree: ast.Module) -> list[str]:
    """The texts of a module that have a space in them, docstrings apart."""
    bodies = [
        node.body
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    ]
    docstrings = {
        id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)
    }
    texts = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and id(node) not in docstrings
    ]
    return [
        node.value
        for node in texts
        if isinstance(node.value, str) and " " in node.value
    ]
