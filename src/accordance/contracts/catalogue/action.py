"""`xiaobo_action_v1`: what an executor did about a task (scope TASK_ACTION). Seeds 000 s2 and 001 s1."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from accordance.contracts.catalogue.identity import is_about_the_task
from accordance.contracts.context import Context
from accordance.contracts.contract import Contract, Scope
from accordance.contracts.fields import Open, Text
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.normalising import Shape, Spelling
from accordance.contracts.pins import normal_path
from accordance.contracts.printable import is_blank
from accordance.contracts.violation import Fix, Repair, Violation, excerpt

RESULT_TYPES: Final = ("ARTIFACT", "NEEDS_INPUT", "NOOP", "ERROR")
FORMATS: Final = ("md", "txt", "json", "html", "css", "js")
ARTIFACTS: Final = "workspace/artifacts/"
INPUTS: Final = "workspace/inputs/"
BRANCHES: Final = {
    "ARTIFACT": "artifact",
    "NEEDS_INPUT": "needs_input",
    "ERROR": "error",
}

_UNSAFE_NAME: Final = re.compile(r"[/\\\x00-\x1f\x7f]")


class Artifact(Open):
    """A product, as text."""

    name: Text
    format: Literal["md", "txt", "json", "html", "css", "js"]
    content: Text
    path_hint: str | None = None
    summary: str | None = None


class RequiredDoc(Open):
    """A document a person has to supply."""

    name: Text
    description: Text
    accepted_types: list[str]
    suggested_path: Text


class NeedsInput(Open):
    """What is missing before the task can go on."""

    required_docs: Annotated[list[RequiredDoc], Field(min_length=1)]


class ActionError(Open):
    """Why the executor thinks it cannot be done."""

    code: Text
    message: Text
    suggestion: str | None = None


class Action(Open):
    """One of four results; the branch of that name carries the rest."""

    schema_version: Literal["xiaobo_action_v1"]
    task_id: Text
    result_type: Literal["ARTIFACT", "NEEDS_INPUT", "NOOP", "ERROR"]
    needs_input: NeedsInput | None = None
    artifact: Artifact | None = None
    error: ActionError | None = None


def is_plainly_in_order(message: JsonObject, context: Context) -> bool:
    """Whether an action, right in every field, plainly keeps all rules: most do, and this is one look instead of four."""
    action: Any = message
    task, wanted, artifact = action["task_id"], context.task_id, action.get("artifact")
    is_asked_for = wanted is None or task == wanted
    if (
        not is_asked_for
        or action.get("needs_input") is not None
        or action.get("error") is not None
    ):
        return False
    if artifact is None:
        return bool(action["result_type"] == "NOOP")
    hint = artifact.get("path_hint")
    is_plain_hint = not hint or _is_plainly_under(hint, f"{ARTIFACTS}{task}/")
    return (
        is_plain_hint
        and action["result_type"] == "ARTIFACT"
        and bool(artifact["name"].isidentifier())
    )


def empty_unused_branches(
    message: JsonObject, _: Context
) -> tuple[JsonObject, list[Repair]]:
    """A branch that was not chosen and holds nothing but empty places says nothing: it is the same as null."""
    used = _branch_of(message)
    empty = [
        branch
        for branch in BRANCHES.values()
        if branch != used and _is_hollow(message.get(branch))
    ]
    if not empty:
        return message, []
    repairs = [
        Repair("empty_branch", f"$.{branch}", message[branch], None) for branch in empty
    ]
    return {**message, **dict.fromkeys(empty)}, repairs


def supplies_its_branch(message: JsonObject, _: Context) -> Iterable[Violation]:
    """ARTIFACT needs artifact, NEEDS_INPUT needs needs_input, ERROR needs error."""
    branch = _branch_of(message)
    if branch is None or message.get(branch) is not None:
        return ()
    why = f"an object, because result_type is {message['result_type']}"
    return (Violation("branch_missing", f"$.{branch}", why, "nothing"),)


def artifact_keeps_to_its_folder(
    message: JsonObject, context: Context
) -> Iterable[Violation]:
    """A name is not a path, and path_hint lies under workspace/artifacts/{task_id}/."""
    artifact = message.get("artifact")
    if not isinstance(artifact, dict):
        return ()
    name, hint = artifact.get("name"), artifact.get("path_hint")
    found: list[Violation] = []
    if isinstance(name, str) and not name.isidentifier() and _is_unsafe_name(name):
        found.append(_unsafe_name(name))
    if hint and isinstance(hint, str):
        folder = f"{ARTIFACTS}{context.task_id or message.get('task_id')}/"
        if not _lies_under(hint, folder):
            found.append(_outside_folder(hint, folder))
    return found


def _unsafe_name(name: str) -> Violation:
    return Violation(
        "unsafe_name", "$.artifact.name", "a plain name, without / or ..", excerpt(name)
    )


def _outside_folder(hint: str, folder: str) -> Violation:
    """A hint outside of all artifacts is moved into the task's folder; one into another task's is left alone."""
    where = "$.artifact.path_hint"
    fix = None if hint.startswith(ARTIFACTS) else _moved(where, hint, folder)
    return Violation(
        "outside_folder", where, f"a path under {folder}", excerpt(hint), fix
    )


def _moved(where: str, path: str, folder: str) -> Fix | None:
    """The same file name in the folder it must lie in."""
    inside = folder + path.rstrip("/").rpartition("/")[2]
    return Fix(where, inside) if _lies_under(inside, folder) else None


def documents_are_asked_for_as_inputs(
    message: JsonObject, _: Context
) -> Iterable[Violation]:
    """suggested_path lies under workspace/inputs/."""
    needs = message.get("needs_input")
    if not isinstance(needs, dict) or not isinstance(
        docs := needs.get("required_docs"), list
    ):
        return ()
    return [
        _outside_inputs(f"$.needs_input.required_docs[{at}].suggested_path", path)
        for at, doc in enumerate(docs)
        if isinstance(doc, dict)
        and isinstance(path := doc.get("suggested_path"), str)
        and not is_blank(path)
        and not _lies_under(path, INPUTS)
    ]


def _outside_inputs(where: str, path: str) -> Violation:
    fix = _moved(where, path, INPUTS)
    return Violation(
        "outside_folder", where, f"a path under {INPUTS}", excerpt(path), fix
    )


def _is_hollow(value: object, depth: int = 3) -> bool:
    """Empty, or made of empty things only."""
    if value in ("", [], {}):
        return True
    items = (
        value.values()
        if isinstance(value, dict)
        else value
        if isinstance(value, list)
        else ()
    )
    return (
        bool(items)
        and depth > 0
        and all(item is None or _is_hollow(item, depth - 1) for item in items)
    )


def _branch_of(message: JsonObject) -> str | None:
    chosen = message.get("result_type")
    return BRANCHES.get(chosen) if isinstance(chosen, str) else None


def _is_plainly_under(path: str, folder: str) -> bool:
    """Under a folder, with nothing about it that needs a closer look."""
    return (
        path.startswith(folder)
        and path.isascii()
        and path.isprintable()
        and ".." not in path
        and "\\" not in path
    )


def _lies_under(path: str, folder: str) -> bool:
    if _is_plainly_under(path, folder):
        return True
    normal = normal_path(path)
    return normal is not None and f"{normal}/".startswith(folder)


def _is_unsafe_name(name: str) -> bool:
    if name.isprintable() and "/" not in name and "\\" not in name and ".." not in name:
        return name.strip() == "."
    return name.strip() in (".", "..") or _UNSAFE_NAME.search(name) is not None


ACTION: Final = Contract(
    version="xiaobo_action_v1",
    name="action",
    about="What an executor did about a task: an artifact, a request for input, nothing, or an error.",
    model=Action,
    scopes=(Scope(name="TASK_ACTION", enums=("result_type", "artifact.format")),),
    shape=Shape(
        wrappers=("action", "result", "output", "data", "payload", "response"),
        marker="result_type",
        renames={"task_id": ("id", "taskId")},
        spellings={"result_type": Spelling(RESULT_TYPES)},
        objects={
            "artifact": Shape(spellings={"format": Spelling(FORMATS, strip=" \t\r\n.")})
        },
    ),
    mends=(empty_unused_branches,),
    settled=is_plainly_in_order,
    rules=(
        is_about_the_task,
        supplies_its_branch,
        artifact_keeps_to_its_folder,
        documents_are_asked_for_as_inputs,
    ),
)
