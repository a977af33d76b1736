"""Plans as pictures: drawn here, or laid out for clients that draw them."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query, Request
from starlette.responses import Response

from accordance.rendering.picture import draw_svg
from accordance.server.authentication import Reader
from accordance.server.routing import router as new_router
from accordance.server.showing import shown
from accordance.service import drawings, plan_layouts
from accordance.service.plan_layouts import Folding
from accordance.service.views.plan_layouts import PlanLayoutView, PlanStatesView
from accordance.service.views.plans import GraphView

router = new_router("plans")
_PICTURE = {"content": {"image/svg+xml": {"schema": {"type": "string"}}}}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""A picture has its style in it, and may do nothing."""
Goals = Annotated[list[str], Query(max_length=1000)]
Depth = Annotated[int | None, Query(ge=0, le=1000)]


@router.get("/plans/{plan}/graph", response_model=GraphView)
def plan_graph(request: Request, caller: Reader, plan: str) -> Response:
    """Show a plan as nodes, and what ties them together."""
    return shown(request, drawings.draw_plan(caller.project, plan).view())


@router.get(
    "/plans/{plan}/graph.svg", responses={200: _PICTURE}, response_class=Response
)
def plan_picture(
    caller: Reader,
    plan: str,
    depth: Annotated[int | None, Query(ge=0, le=100)] = None,
    theme: Literal["auto", "light", "dark"] = "auto",
) -> Response:
    """Draw a plan."""
    drawing = drawings.draw_plan(caller.project, plan)
    labels = {node.task_id: node.title for node in drawing.plan.nodes}
    picture = draw_svg(
        drawing.graph,
        labels,
        drawing.states,
        fold=(),
        depth=depth,
        theme=theme,
    )
    headers = {"Content-Security-Policy": _POLICY}
    return Response(picture, headers=headers, media_type="image/svg+xml")


@router.get("/plans/{plan}/layout", response_model=PlanLayoutView)
def plan_layout(
    request: Request,
    caller: Reader,
    plan: str,
    fold: Goals = [],  # noqa: B006 - FastAPI copies it
    unfold: Goals = [],  # noqa: B006
    depth: Depth = None,
) -> Response:
    """Return where the boxes and arrows of a plan's picture go.

    Goals of `fold` are folded, those of `unfold` are open at any depth. Without a depth,
    as many levels are open as can be read. States come by themselves: see `states`.
    """
    folding = Folding(tuple(fold), tuple(unfold), depth)
    return shown(request, plan_layouts.plan_layout(caller.project, plan, folding))


@router.get("/plans/{plan}/states", response_model=PlanStatesView)
def plan_states(
    request: Request,
    caller: Reader,
    plan: str,
    since: Annotated[int | None, Query(ge=0, le=2**63 - 1)] = None,
) -> Response:
    """Return the states of all tasks of a plan, or of those that moved since an event."""
    return shown(request, plan_layouts.plan_states(caller.project, plan, since))
