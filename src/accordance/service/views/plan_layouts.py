"""A plan as a picture that is drawn elsewhere: columns of numbers, for large plans."""

from __future__ import annotations

from accordance.service.views.base import View


class BoxColumnsView(View):
    """The boxes of a picture, column by column: frames before what stands in them.

    A frame is an open goal around its parts.
    """

    task: tuple[int, ...]  # places in the plan
    title: tuple[str, ...]
    kind: tuple[str, ...]  # GOAL, ACTION or CHECK
    x: tuple[int, ...]
    y: tuple[int, ...]
    width: tuple[int, ...]
    height: tuple[int, ...]
    inset: tuple[int, ...]  # of a frame: the room to the left of its parts; else 0
    level: tuple[int, ...]  # of goals around it
    home: tuple[int, ...]  # the box of the goal it stands in; -1: none
    parts: tuple[int, ...]  # how many it has in the plan
    hidden: tuple[int, ...]  # tasks that are folded into it
    combine: tuple[str, ...]  # how its parts are combined: AND or OR


class ArrowColumnsView(View):
    """The arrows of a picture, column by column."""

    source: tuple[int, ...]  # boxes
    target: tuple[int, ...]
    tie: tuple[str, ...]  # before, checks or part
    points: tuple[tuple[int, ...], ...]  # x and y in turn, corner by corner


class PlanLayoutView(View):
    """Where everything stands in the picture of a plan, whatever its states are."""

    plan_id: str
    revision: int
    root: int  # its place in the plan
    width: int
    height: int
    levels: int  # of goals that the plan has
    ids: tuple[str, ...]  # every task of the plan, in its order
    shown_as: tuple[int, ...]  # the box that stands for each of them
    boxes: BoxColumnsView
    arrows: ArrowColumnsView
    alternatives: tuple[tuple[int, ...], ...]  # boxes of a group, the best first


class PlanStatesView(View):
    """The states of a plan's tasks at an event, or of those that moved since another."""

    plan_id: str
    revision: int  # other than that of the layout: ask for the layout again
    event: int  # the number of the newest event; ask with it the next time
    names: tuple[str, ...]  # of states
    places: tuple[int, ...] | None  # null: all tasks, in the order of the plan
    states: tuple[int, ...]  # of each, by its place among the names
