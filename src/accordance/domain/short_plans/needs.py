"""Who is meant by `needs`: tasks by title or id, never by guess, and never in a circle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from accordance.domain.short_plans.entries import shown
from accordance.domain.short_plans.model import ShortTask
from accordance.domain.short_plans.naming import slug
from accordance.errors import InvalidPlanFile, did_you_mean

_GIVE_AN_ID: Final = "give either of them an id"


@dataclass(slots=True)
class TaskNames:
    """The tasks of a plan by their ids and by the words of their titles."""

    by_id: dict[str, ShortTask] = field(default_factory=dict)
    ids_by_title: dict[str, list[str]] = field(default_factory=dict)
    ids_by_short_id: dict[str, str] = field(default_factory=dict)
    root: str = ""

    def add(self, task: ShortTask, task_id: str, *, is_root: bool = False) -> None:
        """Add a task. Raises InvalidPlanFile where another has its id.

        The root is never meant: nothing in a plan can wait for all of it.
        """
        other = self.by_id.get(task_id)
        if other is not None:
            raise _same_name(other, task)
        self.by_id[task_id] = task
        if is_root:
            self.root = task_id
        else:
            self.ids_by_title.setdefault(slug(task.title), []).append(task_id)
        if task.id is not None:
            self.ids_by_short_id[task.id] = task_id

    def id_of(self, name: str, line: int) -> str:
        """Return the id of the task that a name means. Raises InvalidPlanFile."""
        if name in self.ids_by_short_id:
            return self.ids_by_short_id[name]
        if name in self.by_id and name != self.root:
            return name

        ids = self.ids_by_title.get(slug(name), [])
        if len(ids) == 1:
            return ids[0]
        if not ids:
            titles = [task.title for task in self.by_id.values()]
            raise InvalidPlanFile(
                f"needs {shown(name)}, but no task has that title or id",
                line,
                way_out=did_you_mean(name, titles),
            )
        places = " and ".join(str(self.by_id[task_id].line) for task_id in ids)
        raise InvalidPlanFile(
            f"needs {shown(name)}, which is the title of several tasks (lines {places})",
            line,
            way_out="name the task by its id",
        )


def _same_name(first: ShortTask, second: ShortTask) -> InvalidPlanFile:
    lines = f"lines {first.line} and {second.line}"
    if second.id is not None:
        return InvalidPlanFile(
            f"two tasks have the id {shown(second.id)} ({lines})",
            second.line,
            way_out="an id names a single task",
        )
    return InvalidPlanFile(
        f"two tasks are titled {shown(second.title)} ({lines})",
        second.line,
        way_out=_GIVE_AN_ID,
    )


def refuse_circles(tasks: Iterable[tuple[ShortTask, str]], names: TaskNames) -> None:
    """Refuse tasks that wait for each other, with their titles.

    The contract refuses every circle; this is the circle that people write, and they
    know tasks by their titles.
    """
    needs: dict[str, dict[str, int]] = {}
    for task, task_id in tasks:
        needs[task_id] = {names.id_of(name, line): line for name, line in task.needs}

    free_of_circles: set[str] = set()
    for start in needs:
        path: dict[str, None] = {}
        stack = [start]
        while stack:
            task_id = stack[-1]
            path[task_id] = None
            following = next(
                (need for need in needs[task_id] if need not in free_of_circles), None
            )
            if following is None:
                free_of_circles.add(stack.pop())
                del path[task_id]
            elif following in path:
                raise _circle([*path], following, needs, names)
            else:
                stack.append(following)


def _circle(
    path: list[str],
    start: str,
    needs: dict[str, dict[str, int]],
    names: TaskNames,
) -> InvalidPlanFile:
    members = path[path.index(start) :]
    titles = [names.by_id[task_id].title for task_id in (*members, start)]
    last = members[-1]
    return InvalidPlanFile(
        f"tasks wait for each other: {' needs '.join(map(shown, titles))}",
        needs[last][start],
        way_out="remove one of these needs",
    )
