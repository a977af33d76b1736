"""Reading a set of evaluation tasks: our own fields, or those of SWE-bench.

A set is a JSON list, a file of JSON lines, or TOML with `[[tasks]]`. Everything is
strict: an unknown field is more likely a mistake than a wish.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError

from accordance.contracts.fields import Closed, Text
from accordance.contracts.pins import normal_path
from accordance.contracts.toml import InvalidToml, read_toml
from accordance.domain.evaluation import EvalTask
from accordance.domain.patch import read_patch
from accordance.errors import AccordanceError, nearest

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_UNITTEST_NAME: Final = re.compile(r"(\w+) \(([\w.]+)\)")


class InvalidTaskSet(AccordanceError):
    """A set of evaluation tasks that cannot be read. Names the task and the field."""

    code = "invalid-task-set"


# -- the fields


def _is_id(text: str) -> str:
    if not _ID.fullmatch(text):
        raise ValueError(
            "an id has letters, digits, '.', '_' and '-', at most 100 of them"
        )
    return text


def _lies_inside(path: str) -> str:
    normal = normal_path(path)
    if normal is None or normal.split("/")[0] == ".git":
        raise ValueError(f"{path!r} is no path below the repository")
    return normal


def _listed(value: object) -> object:
    """Return a list that SWE-bench has written as a JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise ValueError("a list, or a JSON list in a text") from None


_Id: TypeAlias = Annotated[Text, AfterValidator(_is_id)]
_Path: TypeAlias = Annotated[str, AfterValidator(_lies_inside)]
_Files: TypeAlias = dict[_Path, str]
_Tests: TypeAlias = Annotated[list[str], BeforeValidator(_listed)]


class _Hidden(Closed):
    files: _Files = Field(default_factory=dict)
    patch: str = ""
    tests: list[Text] = Field(default_factory=list)


class _Pins(Closed):
    allowed_paths: Annotated[list[Text], Field(min_length=1)]
    forbidden_paths: list[Text] = Field(default_factory=list)


class _OwnTask(Closed):
    """A task in fields of ours."""

    id: _Id
    goal: Text
    repo: str = ""
    base: str = ""
    files: _Files = Field(default_factory=dict)
    tests: list[Text] = Field(default_factory=list)
    hidden_tests: _Hidden = Field(default_factory=_Hidden)
    fail_to_pass: Annotated[list[Text], Field(min_length=1)]
    pass_to_pass: list[Text] = Field(default_factory=list)
    patch: str = ""
    role: Text = "engineer"
    pins: _Pins = Field(default_factory=lambda: _Pins(allowed_paths=["**"]))

    def task(self) -> EvalTask:
        """Return the task. Raises ValueError."""
        has_files = bool(self.files)
        if has_files == bool(self.repo):
            raise ValueError("either repo and base, or files")
        if self.repo and not self.base:
            raise ValueError("base is missing: the commit that the agent begins at")
        if not self.tests and not self.hidden_tests.tests:
            raise ValueError("there is no test command in tests or hidden_tests.tests")
        return EvalTask(
            id=self.id,
            goal=self.goal,
            repo=self.repo,
            base=self.base,
            files=self.files,
            tests=tuple(self.tests),
            hidden_tests=tuple(self.hidden_tests.tests),
            hidden_files=self.hidden_tests.files,
            test_patch=self.hidden_tests.patch,
            fail_to_pass=tuple(self.fail_to_pass),
            pass_to_pass=tuple(self.pass_to_pass),
            patch=self.patch,
            role=self.role,
            allowed_paths=tuple(self.pins.allowed_paths),
            forbidden_paths=tuple(self.pins.forbidden_paths),
        )


class _SweBenchTask(Closed):
    """A task in the fields of SWE-bench.

    Hints and dates are read and not used. `test_command` is ours: SWE-bench keeps the
    commands of its repositories elsewhere.
    """

    instance_id: _Id
    repo: Text
    base_commit: Text
    problem_statement: Text
    test_patch: Text
    FAIL_TO_PASS: Annotated[_Tests, Field(min_length=1)]
    PASS_TO_PASS: _Tests
    patch: str = ""
    hints_text: str = ""
    version: str = ""
    environment_setup_commit: str = ""
    created_at: str = ""
    difficulty: str = ""
    test_command: Text | None = None

    def task(self) -> EvalTask:
        """Return the task. Raises ValueError."""
        return EvalTask(
            id=self.instance_id,
            goal=self.problem_statement,
            repo=self.repo,
            base=self.base_commit,
            hidden_tests=(self.test_command or _pytest_on(self.test_patch),),
            test_patch=self.test_patch,
            fail_to_pass=tuple(map(reported_id, self.FAIL_TO_PASS)),
            pass_to_pass=tuple(map(reported_id, self.PASS_TO_PASS)),
            patch=self.patch,
        )


def reported_id(name: str) -> str:
    """Return the id of a test as its runner reports it.

    SWE-bench takes names of unittest from its output: `test_a (app.tests.Case)`.
    """
    match = _UNITTEST_NAME.fullmatch(name)
    if match is None:
        return name
    test, place = match.groups()
    if place.endswith(f".{test}"):
        return place
    return f"{place}.{test}"


def _pytest_on(test_patch: str) -> str:
    """Return the command that runs the test files of a patch. Raises ValueError."""
    touched = read_patch(test_patch).touched
    files = [path for path in touched if path.endswith(".py")]
    tests = [path for path in files if not path.endswith("conftest.py")]
    if not tests:
        raise ValueError(
            "test_patch has no Python file, so test_command must say how to test"
        )
    return f"python -m pytest -q {shlex.join(tests)}"


# -- a set


@dataclass(frozen=True, slots=True)
class _Entry:
    """A task as it was written, and its place in the file."""

    place: str
    value: object


def read_task_set(text: str, name: str) -> tuple[EvalTask, ...]:
    """Read the tasks in a file of that name. Raises InvalidTaskSet."""
    places: dict[str, str] = {}
    tasks = []
    for entry in _entries(text, name):
        task = _task(entry)
        if task.id in places:
            raise InvalidTaskSet(
                f"{entry.place}: {task.id} is the id of {places[task.id]}, too"
            )
        places[task.id] = entry.place
        tasks.append(task)
    if not tasks:
        raise InvalidTaskSet(f"{name}: there are no tasks")
    return tuple(tasks)


def _entries(text: str, name: str) -> Iterator[_Entry]:
    if name.endswith(".toml"):
        yield from _numbered(_toml_tasks(text, name), name)
    elif text.lstrip().startswith("["):
        yield from _numbered(_json(text, name), name)
    else:
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                place = f"{name}, line {number}"
                yield _Entry(place, _json(line, place))


def _numbered(values: object, name: str) -> Iterator[_Entry]:
    if not isinstance(values, list):
        raise InvalidTaskSet(f"{name}: tasks is a list of tables ([[tasks]])")
    for number, value in enumerate(values, 1):
        yield _Entry(f"{name}, task {number}", value)


def _toml_tasks(text: str, name: str) -> object:
    try:
        document = read_toml(text)
    except InvalidToml as error:
        raise InvalidTaskSet(f"{name}: {error}") from None
    unknown = sorted(document.keys() - {"tasks"})
    if unknown:
        raise InvalidTaskSet(
            f"{name}: unknown field {unknown[0]!r}; only tasks is known"
        )
    return document.get("tasks", [])


def _json(text: str, place: str) -> object:
    try:
        return json.loads(text)
    except RecursionError:
        raise InvalidTaskSet(f"{place}: nested too deeply") from None
    except ValueError as error:
        raise InvalidTaskSet(f"{place}: not JSON ({error})") from None


def _task(entry: _Entry) -> EvalTask:
    value = entry.value
    if not isinstance(value, dict):
        raise InvalidTaskSet(f"{entry.place}: a task is an object")

    model = _SweBenchTask if "instance_id" in value else _OwnTask
    name = value.get("instance_id", value.get("id"))
    place = entry.place
    if isinstance(name, str):
        place += f" ({name})"
    try:
        return model.model_validate(value).task()
    except ValidationError as error:
        raise InvalidTaskSet(f"{place}: {_first_fault(error, model)}") from None
    except ValueError as error:
        raise InvalidTaskSet(f"{place}: {error}") from None


def _first_fault(error: ValidationError, model: type[Closed]) -> str:
    """Return what is wrong with the first field, in a line."""
    fault = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(step) for step in fault["loc"])
    if fault["type"] == "missing":
        return f"{field} is missing"
    if fault["type"] == "extra_forbidden":
        near = nearest(field, model.model_fields, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"unknown field {field!r}{hint}"
    message = fault["msg"].removeprefix("Value error, ")
    return f"{field}: {message}"
