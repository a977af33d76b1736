"""Evidence: listed, downloaded, rendered in every format."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query, Request
from starlette.responses import Response

from accordance.server.authentication import Anyone
from accordance.server.downloading import downloaded
from accordance.server.routes.tasks import Attempt, SeenTask
from accordance.server.routing import router as new_router
from accordance.server.showing import shown
from accordance.service import downloads, judgements
from accordance.service.bundles import verify_bundle
from accordance.service.views.downloads import EvidenceView
from accordance.service.views.verification import BundleView

router = new_router("evidence")
Format = Literal[
    "text", "markdown", "github", "gitlab", "junit", "sarif", "json", "003", "004"
]
_TYPES = {
    "text": "text/plain",
    "markdown": "text/markdown",
    "github": "text/plain",
    "junit": "application/xml",
}
_ZIP = {"content": {"application/zip": {"schema": {"type": "string"}}}}
_BYTES = {"content": {"application/octet-stream": {"schema": {"type": "string"}}}}
_RENDERED: dict[str, Any] = {
    "content": {
        kind: {"schema": {}}
        for kind in (
            "text/plain",
            "text/markdown",
            "application/xml",
            "application/json",
        )
    }
}


@router.get("/tasks/{task}/evidence", response_model=EvidenceView)
def list_evidence(
    request: Request,
    caller: Anyone,
    task: SeenTask,
    attempt: Attempt = None,
) -> Response:
    """List what an attempt has left: the files of its bundle, or its product."""
    return shown(request, downloads.list_evidence(caller.project, task, attempt))


@router.get(
    "/tasks/{task}/evidence.zip", responses={200: _ZIP}, response_class=Response
)
def download_evidence(
    caller: Anyone,
    task: SeenTask,
    attempt: Attempt = None,
) -> Response:
    """Download everything that an attempt has left."""
    return downloaded(downloads.evidence_archive(caller.project, task, attempt))


@router.get(
    "/tasks/{task}/evidence/file", responses={200: _BYTES}, response_class=Response
)
def download_file(
    caller: Anyone,
    task: SeenTask,
    name: Annotated[str, Query(max_length=1000)],
    attempt: Attempt = None,
) -> Response:
    """Download a file by its name in the listing."""
    return downloaded(downloads.evidence_file(caller.project, task, name, attempt))


@router.get(
    "/tasks/{task}/judgement", responses={200: _RENDERED}, response_class=Response
)
def render_judgement(
    caller: Anyone,
    task: SeenTask,
    format: Format = "json",  # noqa: A002 - the name of the parameter
    attempt: Attempt = None,
) -> Response:
    """Reach the verdict on a change again from its bundle, and show it in a format."""
    folder = downloads.evidence_folder(caller.project, task, attempt)
    text = judgements.render(judgements.judgement_in(folder), format)
    return Response(text, media_type=_TYPES.get(format, "application/json"))


@router.get("/tasks/{task}/evidence/verification", response_model=BundleView)
def verify_evidence(
    request: Request,
    caller: Anyone,
    task: SeenTask,
    attempt: Attempt = None,
) -> Response:
    """Recompute every hash, the facts and the verdict of a bundle."""
    folder = downloads.evidence_folder(caller.project, task, attempt)
    return shown(request, verify_bundle(folder))
