"""What can go wrong while facts are collected.

A fact that cannot be collected is an error, never a pass.

AccordanceError
+-- WorkspaceError
    +-- GitFailed             git ended with an error; carries its output
    +-- UnknownBase           the base commit is not in the repository
    |   +-- NoEarlierCopy     a folder without git needs an earlier copy to compare with
    +-- UnfixedBase           a base that the agent could have moved
    |   +-- BasesDiffer       the named base is not the commit of the baseline
    +-- InvalidBaseline       a baseline that is unreadable, or within the agent's reach
    +-- IncomparableTree      a sparse checkout, or a clone with other line ends
    +-- RemoteUnavailable     the remote of a repository cannot be used just now
    +-- ForeignPush           the branch of a plan has commits of others
    +-- UnsafeName            a task id that could be a path
    +-- WorkspaceChanging     something was still writing while the tree was read
    +-- JudgeInReach          this process imports from the tree that it judges
    +-- EnvironmentBroken     what tests need could not be made, or is not there
    +-- IsolationUnavailable  this machine does not offer the requested isolation
    +-- BundleBroken          a bundle that disagrees with its manifest or signature
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from accordance.errors import AccordanceError, Category

if TYPE_CHECKING:
    from accordance.domain.facts import IsolationProbe

_MAX_OUTPUT: Final = 500
_SHORT_ID: Final = 12


class WorkspaceError(AccordanceError):
    """Facts could not be collected."""

    code = "workspace-error"


class GitFailed(WorkspaceError):
    """Git ended with an error."""

    code = "git-failed"

    def __init__(self, command: Sequence[str], code: int, output: str) -> None:
        super().__init__(tuple(command), code, output)
        self.command = tuple(command)
        self.exit_code = code
        self.output = output

    @property
    def text(self) -> str:
        """The command, and what git wrote."""
        command = " ".join(self.command)
        output = " ".join(self.output.split())[:_MAX_OUTPUT] or "no output"
        return f"git {command} failed with exit code {self.exit_code}: {output}"


class UnknownBase(WorkspaceError):
    """There is no such commit to start from."""

    code = "unknown-base"


class NoEarlierCopy(UnknownBase):
    """A folder without git can only be compared with an earlier copy."""

    code = "no-earlier-copy"


class UnfixedBase(WorkspaceError):
    """No base, or a name: the agent can decide what that is."""

    code = "unfixed-base"


class BasesDiffer(UnfixedBase):
    """The named base is not the commit of the baseline."""

    code = "bases-differ"


class InvalidBaseline(WorkspaceError):
    """No baseline, or a baseline of another repository or within the agent's reach."""

    code = "invalid-baseline"


class IncomparableTree(WorkspaceError):
    """Git laid the tree out in another way than its base can be compared with."""

    code = "incomparable-tree"


class RemoteProblem(StrEnum):
    """Why a remote cannot be used, and what helps."""

    AWAY = "it cannot be reached"
    SILENT = "it does not answer"
    CREDENTIALS = "it wants credentials that git does not have on this machine"
    MISSING = "there is no such repository, or this machine may not see it"
    REFUSES = "it refuses the push"
    LACKS = "it lacks a commit that the ledger names"
    BUSY = "others push to the same branch all the time"


_REMEDIES: Final[Mapping[RemoteProblem, str]] = MappingProxyType(
    {
        RemoteProblem.AWAY: "check its address and the network",
        RemoteProblem.SILENT: "check the network, or give it more remote_seconds",
        RemoteProblem.CREDENTIALS: (
            "give git on this machine a credential helper, GIT_ASKPASS or an ssh key"
        ),
        RemoteProblem.MISSING: "check the address in [workspace] repo",
        RemoteProblem.REFUSES: (
            "allow pushes to refs/heads/accordance/* and refs/accordance/* there"
        ),
        RemoteProblem.LACKS: "the machine that wrote it has to push it",
        RemoteProblem.BUSY: "go on a little later",
    }
)


class RemoteUnavailable(WorkspaceError):
    """A remote cannot be reached, wants credentials or refuses a push.

    It says nothing about a task. `lacks` names what has to work again.
    """

    code = "remote-unavailable"
    category = Category.UNAVAILABLE

    def __init__(
        self,
        address: str,
        problem: RemoteProblem,
        detail: str = "",
        ref: str = "",
    ) -> None:
        super().__init__(address, problem, detail, ref)
        self.address = address
        self.problem = problem
        self.detail = detail
        self.ref = ref  # what could not be pushed

    @property
    def lacks(self) -> str:
        """The remote, and what it has to take, if it refused anything."""
        return f"{self.address} {self.ref}".strip()

    @property
    def text(self) -> str:
        """The remote, and why it cannot be used."""
        detail = " ".join(self.detail.split())[:_MAX_OUTPUT]
        reason = f": {detail}" if detail else ""
        return f"the repository {self.address}: {self.problem}{reason}"

    @property
    def way_out(self) -> str:
        """What helps."""
        return _REMEDIES[self.problem]


class ForeignPush(WorkspaceError):
    """The branch of a plan has commits that the ledger did not put there."""

    code = "foreign-push"
    category = Category.CONFLICT

    def __init__(self, branch: str, tip: str) -> None:
        super().__init__(branch, tip)
        self.branch = branch
        self.tip = tip

    @property
    def text(self) -> str:
        """The branch, and the commit it was moved to."""
        return (
            f"the branch {self.branch} was moved by someone else, to"
            f" {self.tip[:_SHORT_ID]}"
        )

    @property
    def way_out(self) -> str:
        """The two ways to go on."""
        return (
            "take those commits in with `accordance plan rebase`, which tests the"
            " plan's changes on them; or give them another name and delete the branch,"
            " and accordance makes it again"
        )


class UnsafeName(WorkspaceError):
    """A name that would leave its folder if it were used as a path."""

    code = "unsafe-name"


class WorkspaceChanging(WorkspaceError):
    """A file changed while it was read: something still runs in the workspace."""

    code = "workspace-changing"


class BundleBroken(WorkspaceError):
    """An evidence bundle whose files, manifest or signature disagree."""

    code = "bundle-broken"


class JudgeInReach(WorkspaceError):
    """Accordance imports from the judged tree, so an agent's code could run in it."""

    code = "judge-in-reach"

    def __init__(self, place: str, tree: str) -> None:
        super().__init__(place, tree)
        self.place = place
        self.tree = tree

    @property
    def text(self) -> str:
        """What is imported from where."""
        return (
            f"accordance itself imports from {self.place}, which lies in the tree that"
            f" is judged ({self.tree}): code of the agent could run in the judge"
        )

    @property
    def way_out(self) -> str:
        """How to keep the two apart."""
        return (
            "install accordance in an environment of its own outside of the tree (pipx"
            " install accordance, uv tool install accordance)"
        )


class EnvironmentBroken(WorkspaceError):
    """What the tests need could not be prepared, or is not where it should be."""

    code = "environment-broken"


class IsolationUnavailable(WorkspaceError):
    """The command was not run, because it could not be isolated as requested."""

    code = "isolation-unavailable"
    category = Category.UNAVAILABLE

    def __init__(self, wish: str, probe: IsolationProbe) -> None:
        super().__init__(wish, probe)
        self.wish = wish
        self.probe = probe

    @property
    def text(self) -> str:
        """What was tried."""
        failed = [level for level in self.probe.levels if not level.works]
        details = [f"{level.level}: {level.detail}" for level in failed]
        tried = "; ".join(details)
        return f"this machine cannot isolate commands ({tried}), so nothing was run"

    @property
    def way_out(self) -> str:
        """What would help here."""
        remedies = [level.remedy for level in self.probe.levels if level.remedy]
        remedy = " or ".join(dict.fromkeys(remedies))
        return (
            f"{remedy}, or set isolation to rlimit to accept that commands run with "
            "your own rights"
        )
