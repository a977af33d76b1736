"""`xiaobo_action_v1`: what an executor did about a task. Seeds 000 s2 and 001 s1."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from accordance.contracts.catalogue.identity import is_about_the_task
from accordance.contracts.catalogue.versions import ACTION_NAME, ACTION_VERSION
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
    """The result; the branch of that name carries the rest."""

    schema_version: Literal["xiaobo_action_v1"]
    task_id: Text
    result_type: Literal["ARTIFACT", "NEEDS_INPUT", "NOOP", "ERROR"]
    needs_input: NeedsInput | None = None
    artifact: Artifact | None = None
    error: ActionError | None = None


def is_plainly_in_order(message: JsonObject, context: Context) -> bool:
    """Return whether an action, right in every field, plainly keeps all rules.

    Most actions do, and this is cheaper than running every rule.
    """
    action: Any = message
    task = action["task_id"]
    if context.task_id is not None and task != context.task_id:
        return False
    if action.get("needs_input") is not None:
        return False
    if action.get("error") is not None:
        return False

    artifact = action.get("artifact")
    result_type = action["result_type"]
    if artifact is None:
        return bool(result_type == "NOOP")
    if result_type != "ARTIFACT":
        return False

    hint = artifact.get("path_hint")
    if hint and not _is_plainly_under(hint, f"{ARTIFACTS}{task}/"):
        return False
    return bool(artifact["name"].isidentifier())


# Branches


def empty_unused_branches(
    message: JsonObject, _: Context
) -> tuple[JsonObject, list[Repair]]:
    """A branch that was not chosen and holds only empty values is the same as null."""
    chosen = _chosen_branch(message)
    unused = [branch for branch in BRANCHES.values() if branch != chosen]
    empty = [branch for branch in unused if _is_hollow(message.get(branch))]
    if not empty:
        return message, []

    repairs = [
        Repair(
            "empty_branch",
            path=f"$.{branch}",
            before=message[branch],
            after=None,
        )
        for branch in empty
    ]
    return {**message, **dict.fromkeys(empty)}, repairs


def supplies_its_branch(message: JsonObject, _: Context) -> Iterable[Violation]:
    """ARTIFACT needs artifact, NEEDS_INPUT needs needs_input, ERROR needs error."""
    branch = _chosen_branch(message)
    if branch is None or message.get(branch) is not None:
        return ()
    return (
        Violation(
            "branch_missing",
            path=f"$.{branch}",
            expected=f"an object, because result_type is {message['result_type']}",
            actual="nothing",
        ),
    )


def _chosen_branch(message: JsonObject) -> str | None:
    result_type = message.get("result_type")
    if not isinstance(result_type, str):
        return None
    return BRANCHES.get(result_type)


def _is_hollow(value: object, depth: int = 3) -> bool:
    """Return whether a value is empty, or made of empty values only."""
    if value in ("", [], {}):
        return True
    if depth == 0:
        return False

    if isinstance(value, dict):
        items: Iterable[object] = value.values()
    elif isinstance(value, list):
        items = value
    else:
        return False
    return all(item is None or _is_hollow(item, depth - 1) for item in items)


# Folders


def artifact_keeps_to_its_folder(
    message: JsonObject, context: Context
) -> Iterable[Violation]:
    """A name is not a path, and path_hint lies under workspace/artifacts/{task_id}/."""
    artifact = message.get("artifact")
    if not isinstance(artifact, dict):
        return ()

    violations: list[Violation] = []
    name = artifact.get("name")
    if isinstance(name, str) and _is_unsafe_name(name):
        unsafe_name = Violation(
            "unsafe_name",
            path="$.artifact.name",
            expected="a plain name, without / or ..",
            actual=excerpt(name),
        )
        violations.append(unsafe_name)

    hint = artifact.get("path_hint")
    if isinstance(hint, str) and hint:
        task = context.task_id or message.get("task_id")
        folder = f"{ARTIFACTS}{task}/"
        if not _lies_under(hint, folder):
            path = "$.artifact.path_hint"
            is_other_tasks = hint.startswith(ARTIFACTS)
            fix = None if is_other_tasks else _moved(path, hint, folder)
            violations.append(_outside_folder(path, hint, folder, fix))
    return violations


def documents_are_asked_for_as_inputs(
    message: JsonObject, _: Context
) -> Iterable[Violation]:
    """suggested_path lies under workspace/inputs/."""
    needs = message.get("needs_input")
    if not isinstance(needs, dict):
        return ()
    docs = needs.get("required_docs")
    if not isinstance(docs, list):
        return ()

    violations: list[Violation] = []
    for index, doc in enumerate(docs):
        hint = doc.get("suggested_path") if isinstance(doc, dict) else None
        if not isinstance(hint, str) or is_blank(hint):
            continue
        if not _lies_under(hint, INPUTS):
            path = f"$.needs_input.required_docs[{index}].suggested_path"
            fix = _moved(path, hint, INPUTS)
            violations.append(_outside_folder(path, hint, INPUTS, fix))
    return violations


def _outside_folder(path: str, hint: str, folder: str, fix: Fix | None) -> Violation:
    return Violation(
        "outside_folder",
        path=path,
        expected=f"a path under {folder}",
        actual=excerpt(hint),
        fix=fix,
    )


def _moved(path: str, hint: str, folder: str) -> Fix | None:
    """Return the fix that keeps the file name and puts it into the folder."""
    name = hint.rstrip("/").rpartition("/")[2]
    inside = folder + name
    if _lies_under(inside, folder):
        return Fix(path, inside)
    return None


def _lies_under(path: str, folder: str) -> bool:
    if _is_plainly_under(path, folder):
        return True
    normal = normal_path(path)
    return normal is not None and f"{normal}/".startswith(folder)


def _is_plainly_under(path: str, folder: str) -> bool:
    """Return whether a path is under a folder and needs no closer look."""
    return (
        path.startswith(folder)
        and path.isascii()
        and path.isprintable()
        and ".." not in path
        and "\\" not in path
    )


def _is_unsafe_name(name: str) -> bool:
    is_folder = name.strip() in (".", "..")
    return is_folder or _UNSAFE_NAME.search(name) is not None


ACTION: Final = Contract(
    version=ACTION_VERSION,
    name=ACTION_NAME,
    about=(
        "What an executor did about a task: an artifact, a request for input, nothing, "
        "or an error."
    ),
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
