"""Which files a hook needs, and what they say before and after."""

from __future__ import annotations

import difflib
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.domain.hooks.git_script import HOOK, OWN, git_script, is_our_script
from accordance.domain.hooks.json_settings import (
    HookSettingsUnreadable,
    with_stop_hook,
    without_stop_hook,
)
from accordance.domain.hooks.kinds import HookKind, hook_command
from accordance.domain.hooks.pre_commit_config import (
    with_pre_commit_hook,
    without_pre_commit_hook,
)
from accordance.errors import CannotWrite
from accordance.project.home import write_file
from accordance.service.views.hooks import HookFileView
from accordance.shipped import shipped
from accordance.workspace.errors import WorkspaceError
from accordance.workspace.hook_places import git_hooks_folder

_JSON_FILES: Final = {
    HookKind.CLAUDE: ".claude/settings.json",
    HookKind.CODEX: ".codex/hooks.json",
}
_PLUGIN: Final = ".opencode/plugins/accordance.js"
_PLUGIN_IGNORES: Final = ".opencode/.gitignore"
_IGNORED: Final = "node_modules\npackage.json\npackage-lock.json\nbun.lock\n"
_PRE_COMMIT: Final = ".pre-commit-config.yaml"
_PROGRAM_MARK: Final = '"accordance"'
_EXECUTABLE: Final = 0o755


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a file says before and after; None where it is not there."""

    place: Path
    before: bytes | None
    after: bytes | None
    executable: bool = False
    moved_to: Path | None = None  # instead of being removed or written

    def carry_out(self) -> None:
        """Write, move or remove the file. Raises CannotWrite."""
        if self.before == self.after and self.moved_to is None:
            return
        try:
            if self.moved_to is not None:
                self.place.rename(self.moved_to)
            elif self.after is None:
                self.place.unlink()
            else:
                write_file(self.place, self.after)
                if self.executable:
                    self.place.chmod(_EXECUTABLE)
        except OSError as error:
            raise CannotWrite(self.place, error) from None

    def view(self, root: Path) -> HookFileView:
        """Return it for people, by its path in the working tree."""
        name = os.path.relpath(self.place, root)
        if self.moved_to is not None:
            to = os.path.relpath(self.moved_to, root)
            return HookFileView(
                path=name,
                change="moved",
                difference=f"to {to}\n",
            )
        if self.before == self.after:
            return HookFileView(
                path=name,
                change="as it was",
                difference="",
            )
        lines = difflib.unified_diff(
            _lines(self.before),
            _lines(self.after),
            name if self.before is not None else os.devnull,
            name if self.after is not None else os.devnull,
        )
        change = "removed" if self.after is None else "written"
        return HookFileView(
            path=name,
            change=change,
            difference="".join(lines),
        )


def changes_to_put_in(kind: HookKind, root: Path) -> tuple[FileChange, ...]:
    """Return the files that a hook needs.

    Raises HookSettingsUnreadable, WorkspaceError.
    """
    program = _program()
    match kind:
        case HookKind.CLAUDE | HookKind.CODEX:
            place, before = _text_at(root, _JSON_FILES[kind])
            command = hook_command(kind, program)
            with _named(place):
                after = with_stop_hook(before or "", kind, command)
            return (_text_change(place, before, after),)
        case HookKind.OPENCODE:
            return _plugin_put_in(root)
        case HookKind.GIT:
            return _script_put_in(root, program)
        case HookKind.PRE_COMMIT:
            place, before = _text_at(root, _PRE_COMMIT)
            with _named(place):
                after = with_pre_commit_hook(before or "", program)
            return (_text_change(place, before, after),)


def changes_to_take_out(
    kind: HookKind,
    root: Path,
    made: tuple[str, ...],
) -> tuple[FileChange, ...]:
    """Return what becomes of the files of a hook. `made` were not there before it.

    Raises HookSettingsUnreadable, WorkspaceError.
    """
    match kind:
        case HookKind.CLAUDE | HookKind.CODEX:
            path = _JSON_FILES[kind]
            place, before = _text_at(root, path)
            if before is None:
                return ()
            with _named(place):
                after = without_stop_hook(before, kind)
            is_left_empty = after.split() == ["{}"]
            if is_left_empty and path in made:
                return (_text_change(place, before, None),)
            return (_text_change(place, before, after),)
        case HookKind.OPENCODE:
            files = [_PLUGIN]
            if _PLUGIN_IGNORES in made:
                files.append(_PLUGIN_IGNORES)
            places = [root / path for path in files]
            return tuple(_removal(place) for place in places if place.exists())
        case HookKind.GIT:
            return _script_taken_out(root)
        case HookKind.PRE_COMMIT:
            place, before = _text_at(root, _PRE_COMMIT)
            if before is None:
                return ()
            after = without_pre_commit_hook(before)
            is_left_empty = after.split() == ["repos:"]
            if is_left_empty and _PRE_COMMIT in made:
                return (_text_change(place, before, None),)
            return (_text_change(place, before, after),)


def _plugin_put_in(root: Path) -> tuple[FileChange, ...]:
    program = shlex.split(_program())[0]
    quoted = f'"{program}"'.replace("\\", "\\\\")
    text = shipped("hooks/opencode.js").replace(_PROGRAM_MARK, quoted)
    plugin_place, plugin_before = _text_at(root, _PLUGIN)
    changes = [_text_change(plugin_place, plugin_before, text)]
    ignores_place, ignores = _text_at(root, _PLUGIN_IGNORES)
    if ignores is None:  # opencode would write it itself, as if the agent had
        changes.append(_text_change(ignores_place, None, _IGNORED))
    return tuple(changes)


def _script_put_in(root: Path, program: str) -> tuple[FileChange, ...]:
    folder = git_hooks_folder(root)
    hook = folder / HOOK
    own = folder / OWN
    before = _bytes_at(hook)
    script = git_script(program).encode()
    if before is None or is_our_script(before):
        return (FileChange(hook, before, script, executable=True),)
    if os.path.lexists(own):
        raise WorkspaceError(
            f"{hook} and {own} are both there, and neither is accordance's",
            way_out="join them into a single hook first",
        )
    return (
        FileChange(hook, before, None, moved_to=own),
        FileChange(hook, None, script, executable=True),
    )


def _script_taken_out(root: Path) -> tuple[FileChange, ...]:
    folder = git_hooks_folder(root)
    hook = folder / HOOK
    own = folder / OWN
    before = _bytes_at(hook)
    if before is None or not is_our_script(before):
        return ()
    removal = FileChange(hook, before, None)
    if not os.path.lexists(own):
        return (removal,)
    moved_back = FileChange(own, _bytes_at(own), None, moved_to=hook)
    return (removal, moved_back)


def _program() -> str:
    """Return how a shell calls this accordance: by name where it is on the path."""
    running = Path(sys.argv[0])
    on_path = shutil.which("accordance")
    is_program = running.name == "accordance" and running.exists()
    if on_path is not None:
        is_same = is_program and Path(on_path).samefile(running)
        if is_same or not is_program:
            return "accordance"
    if is_program:
        return shlex.quote(str(running.resolve()))
    return "accordance"


@contextmanager
def _named(place: Path) -> Iterator[None]:
    """Name the file in an error about its content."""
    try:
        yield
    except HookSettingsUnreadable as error:
        raise HookSettingsUnreadable(
            f"{place} is left as it is: {error.text}",
            way_out="mend it, or add the hook by hand (docs/how-to/stop-hooks.md)",
        ) from None


def _text_at(root: Path, path: str) -> tuple[Path, str | None]:
    """Return where a file of the tree really is, and its text. Raises WorkspaceError."""
    place = (root / path).resolve()
    if not place.is_relative_to(root.resolve()):
        raise WorkspaceError(
            f"{path} is a link to {place}, which is outside this repository",
            way_out="replace the link by a file of the repository",
        )
    content = _bytes_at(place)
    if content is None:
        return place, None
    try:
        return place, content.decode()
    except UnicodeDecodeError:
        raise WorkspaceError(
            f"{place} is not UTF-8, so it is left as it is", way_out="mend it first"
        ) from None


def _bytes_at(place: Path) -> bytes | None:
    try:
        return place.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise WorkspaceError(
            f"{place}: cannot be read: {error.strerror or error}"
        ) from None


def _text_change(place: Path, before: str | None, after: str | None) -> FileChange:
    return FileChange(
        place,
        None if before is None else before.encode(),
        None if after is None else after.encode(),
    )


def _removal(place: Path) -> FileChange:
    return FileChange(place, _bytes_at(place), None)


def _lines(content: bytes | None) -> list[str]:
    if content is None:
        return []
    return content.decode("utf-8", "replace").splitlines(keepends=True)
