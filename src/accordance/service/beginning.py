"""Beginning a project: the files of a template, in a folder that has none of them."""

from __future__ import annotations

from pathlib import Path

from accordance.domain.templates import CI_WORKFLOW, TEMPLATES, Template
from accordance.errors import AccordanceError, CannotWrite, Category
from accordance.rendering.ci_files import ci_file
from accordance.service.views.beginning import BeginningView
from accordance.shipped import shipped
from accordance.workspace.git import Git


class FileExists(AccordanceError):
    """A file of the template is there already; nothing was written."""

    code = "file-exists"
    category = Category.CONFLICT


def begin_project(
    folder: Path,
    name: str = "minimal",
    *,
    dry_run: bool = False,
) -> BeginningView:
    """Write the files of a template, all of them or none.

    Raises FileExists, CannotWrite.
    """
    template = TEMPLATES[name]
    _refuse_existing(folder, template)
    if not dry_run:
        _write(folder, template)
    return BeginningView(
        folder=str(folder),
        template=name,
        files=tuple(template.files),
        written=not dry_run,
    )


def _refuse_existing(folder: Path, template: Template) -> None:
    """Refuse to touch what is there. A file in the place of a folder counts too."""
    for path in template.files:
        parents = [folder / parent for parent in Path(path).parents]
        in_the_way = [parent for parent in parents if parent.is_file()]
        target = folder / path
        if in_the_way or target.exists() or target.is_symlink():
            place = in_the_way[0] if in_the_way else target
            raise FileExists(
                f"{place} is there already, and nothing is overwritten",
                way_out="name an empty folder, or move the file away",
            )


def _write(folder: Path, template: Template) -> None:
    written: list[Path] = []
    for path, source in template.files.items():
        target = folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("x", encoding="utf-8") as file:
                written.append(target)
                file.write(_content(path, source))
        except OSError as error:
            for earlier in written:
                earlier.unlink(missing_ok=True)
            raise CannotWrite(target, error) from None
    if template.repository is not None:
        _commit(folder / template.repository)


def _content(path: str, source: str) -> str:
    if path == CI_WORKFLOW:
        return ci_file(shipped("ci/github.yml"), agents=(), tasks="tasks")
    return shipped(f"templates/{source}")


def _commit(repository: Path) -> None:
    """Make a folder a repository with one commit."""
    place = repository.resolve()
    git = Git(place / ".git", work_tree=place)
    git("init", "--quiet", "--initial-branch=main")
    git("add", "--all")
    git("commit", "--quiet", "--message=Round down to five cents")
