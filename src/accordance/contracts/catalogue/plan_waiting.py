"""Whether a plan can be finished: no task may wait for itself.

A cycle of edges is not the only circle. A goal is done when its parts are, and its
parts may begin when the goal may. So a part that waits for its own goal waits for
itself, and so do two goals whose parts wait for the other goal.

What the edges mean when a plan moves (docs/decisions/0007) is written here as
implications of the form: this event happens once all of those have. Starting from the
events that need nothing, everything that follows happens. Each implication is looked at
once per condition, so the time is linear. A property test drives random plans and
compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from accordance.contracts.catalogue.plan_circle import describe_circle
from accordance.contracts.catalogue.plan_structure import Structure, read_structure
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Violation, excerpt

# What can happen to a node. Events and implications are plain tuples of texts, because
# a large plan has a million of them.
OPEN: Final = "open"  # neither it nor a goal above it has to wait any more
BEGUN: Final = "begun"  # it has a product, which may still have to be checked
DONE: Final = "done"
EXCUSED: Final = "excused"  # another way was taken: nothing waits for it
SETTLED: Final = "settled"  # done or excused: what waits for it may go on

Event: TypeAlias = tuple[str, str]
"""What happens, and to which node."""
Implication: TypeAlias = tuple[Event, tuple[Event, ...]]
"""An event, and the conditions after which it happens."""


def circles_of_waiting(message: JsonObject) -> Iterator[Violation]:
    """Yield what keeps the root from being done although every task succeeds.

    For a plan whose edges are sound and have no cycle.
    """
    structure = read_structure(message)
    if structure is None:
        return

    empty_goals = [*_goals_without_a_part_to_do(structure)]
    yield from empty_goals

    implications = [*_implications(structure)]
    happened = _consequences(implications)
    goal: Event = (DONE, structure.root)
    if goal not in happened and not empty_goals:
        circle = _circle_before(goal, implications, happened)
        tasks = [task for _, task in circle]
        yield describe_circle(structure, tasks, message)


def _goals_without_a_part_to_do(structure: Structure) -> Iterator[Violation]:
    """Yield the wanted goals whose parts are all passed over.

    Such a goal is stuck before anything begins.
    """
    for goal, parts in structure.parts.items():
        if goal in structure.passed_over:
            continue
        if not structure.passed_over.issuperset(parts):
            continue
        yield Violation(
            "never_done",
            path=f"$.nodes[{structure.place(goal)}]",
            expected="a goal with a part that will be done",
            actual=(
                f"{excerpt(goal)}, whose parts are all passed over for other candidates"
            ),
        )


# The implications


def _implications(structure: Structure) -> Iterator[Implication]:
    has_alternatives = bool(structure.or_goals or structure.rivals)
    for task in structure.rank:
        if task not in structure.passed_over:
            yield ((SETTLED, task), ((DONE, task),))
            yield ((OPEN, task), tuple(_conditions_to_begin(structure, task)))
            if task in structure.parts:
                yield from _ways_to_finish_a_goal(structure, task)
            else:
                yield from _ways_to_finish_a_task(structure, task)
        if has_alternatives:
            yield ((SETTLED, task), ((EXCUSED, task),))
            yield from _excuses(structure, task)


def _conditions_to_begin(structure: Structure, task: str) -> Iterator[Event]:
    """Yield what must happen before a node, or its parts, may begin.

    A check of a product waits for that product alone, and not for its own parents.
    """
    reviewed = structure.checks.get(task)
    for prerequisite in structure.prerequisites.get(task, ()):
        is_goal = prerequisite in structure.parts
        is_wanted = prerequisite not in structure.passed_over
        is_product = prerequisite == reviewed and not is_goal
        if is_product and is_wanted:
            yield (BEGUN, prerequisite)
        else:
            yield (SETTLED, prerequisite)

    if reviewed is None:
        for parent in structure.parents.get(task, ()):
            if parent not in structure.passed_over:
                yield (OPEN, parent)


def _ways_to_finish_a_task(structure: Structure, task: str) -> Iterator[Implication]:
    """A task is begun when it may begin, and done when its product has been checked."""
    checks: list[Event] = [
        (DONE, check)
        for check in structure.checked_by.get(task, ())
        if check not in structure.passed_over
    ]
    yield ((BEGUN, task), ((OPEN, task),))
    yield ((DONE, task), ((BEGUN, task), *checks))


def _ways_to_finish_a_goal(structure: Structure, goal: str) -> Iterator[Implication]:
    """An OR goal is done with any of its parts, another goal with all of them."""
    parts = structure.without_passed_over(structure.parts[goal])
    if goal in structure.or_goals:
        for part in parts:
            yield ((DONE, goal), ((DONE, part),))
    else:
        yield ((DONE, goal), tuple((SETTLED, part) for part in parts))
    yield ((OPEN, goal), ((EXCUSED, goal),))


def _excuses(structure: Structure, task: str) -> Iterator[Implication]:
    """Yield the ways in which a node becomes needless.

    Its better rival is done, the task it checks is excused, or its goals are settled.
    """
    excused: Event = (EXCUSED, task)

    best = structure.rivals.get(task, [task])[0]
    if best != task and best not in structure.passed_over:
        yield (excused, ((DONE, best),))

    if task in structure.checks:
        yield (excused, ((EXCUSED, structure.checks[task]),))
        return

    parents = structure.parents.get(task)
    if parents:
        yield (excused, tuple((SETTLED, parent) for parent in parents))
        wanting = structure.without_passed_over(parents)
        if wanting:
            yield (excused, tuple((DONE, parent) for parent in wanting))


# What follows from them


def _consequences(implications: list[Implication]) -> set[Event]:
    """Return every event that happens."""
    missing = [len(conditions) for _, conditions in implications]
    waiting_on: dict[Event, list[int]] = {}
    for index, (_, conditions) in enumerate(implications):
        for condition in conditions:
            waiting_on.setdefault(condition, []).append(index)

    happened = {event for event, conditions in implications if not conditions}
    news = [*happened]
    while news:
        for index in waiting_on.get(news.pop(), ()):
            missing[index] -= 1
            event = implications[index][0]
            if not missing[index] and event not in happened:
                happened.add(event)
                news.append(event)
    return happened


def _circle_before(
    event: Event,
    implications: list[Implication],
    happened: set[Event],
) -> list[Event]:
    """Return the circle of events that keeps an event from happening.

    Ask again and again what is missing, until an event comes up a second time.
    """
    missing: dict[Event, Event] = {}
    for awaited, conditions in implications:
        if awaited not in happened and awaited not in missing:
            missing[awaited] = next(
                condition for condition in conditions if condition not in happened
            )

    order: dict[Event, None] = {}
    while event not in order:
        order[event] = None
        event = missing[event]
    seen = [*order]
    return seen[seen.index(event) :]
