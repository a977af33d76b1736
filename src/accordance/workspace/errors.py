"""What can go wrong while facts are collected. A fact that cannot be collected is an error, never a pass.

AccordanceError
+-- WorkspaceError
    +-- GitFailed             git said no; carries its words
    +-- UnknownBase           the base commit is not in the repository
    |   +-- NoEarlierCopy     a folder without git was to be compared with nothing
    +-- UnfixedBase           a base that the agent could have moved
    |   +-- BasesDiffer       a base was named that is not the commit of the baseline
    +-- InvalidBaseline       a recorded baseline that cannot be read, or that the agent could have written
    +-- UnsafeName            a task id that could be a path
    +-- WorkspaceChanging     something was still writing while the tree was read
    +-- IsolationUnavailable  the wished level of isolation cannot be had here
    +-- BundleBroken          an evidence bundle that does not agree with its manifest or signature
"""

from __future__ import annotations

from collections.abc import Sequence

from accordance.domain.facts import IsolationProbe
from accordance.errors import AccordanceError, Category


class WorkspaceError(AccordanceError):
    """Facts could not be collected."""

    code = "workspace-error"


class GitFailed(WorkspaceError):
    """Git ended with an error."""

    code = "git-failed"

    def __init__(self, command: Sequence[str], code: int, said: str) -> None:
        super().__init__(tuple(command), code, said)
        self.command = tuple(command)
        self.exit_code = code
        self.said = said

    @property
    def text(self) -> str:
        """The command, and what git wrote."""
        said = " ".join(self.said.split())[:500] or "nothing"
        return (
            f"git {' '.join(self.command)} ended with {self.exit_code}, saying: {said}"
        )


class UnknownBase(WorkspaceError):
    """There is no such commit to start from."""

    code = "unknown-base"


class NoEarlierCopy(UnknownBase):
    """A folder without git was to be compared with nothing."""

    code = "no-earlier-copy"


class UnfixedBase(WorkspaceError):
    """No base, or a name: the agent decides what that is."""

    code = "unfixed-base"


class BasesDiffer(UnfixedBase):
    """A base was named that is not the commit of the baseline."""

    code = "bases-differ"


class InvalidBaseline(WorkspaceError):
    """No baseline, one of another repository, or one within the agent's reach."""

    code = "invalid-baseline"


class UnsafeName(WorkspaceError):
    """A name that would leave its folder if it were used as a path."""

    code = "unsafe-name"


class WorkspaceChanging(WorkspaceError):
    """A file changed while it was read: something is still running in the workspace."""

    code = "workspace-changing"


class BundleBroken(WorkspaceError):
    """An evidence bundle whose files, manifest or signature do not agree."""

    code = "bundle-broken"


class IsolationUnavailable(WorkspaceError):
    """The command was not run, because it could not be isolated as wished."""

    code = "isolation-unavailable"
    category = Category.UNAVAILABLE

    def __init__(self, wish: str, probe: IsolationProbe) -> None:
        super().__init__(wish, probe)
        self.wish = wish
        self.probe = probe

    @property
    def text(self) -> str:
        """What was tried."""
        tried = "; ".join(
            f"{found.level}: {found.detail}"
            for found in self.probe.levels
            if not found.works
        )
        return f"this machine cannot isolate commands ({tried}), so nothing was run"

    @property
    def way_out(self) -> str:
        """What would help here."""
        remedies = " or ".join(
            dict.fromkeys(found.remedy for found in self.probe.levels if found.remedy)
        )
        return f"{remedies}, or set isolation to rlimit to accept that commands run with your own rights"
