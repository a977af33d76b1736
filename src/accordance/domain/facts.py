r"""Facts: what was really there before and after an attempt, collected by accordance itself.

The workspace layer fills these values in, gates judge by them and by nothing else, and the evidence bundle stores them, so
that a verdict can be recomputed. Everything here is plain data; nothing is a claim of the agent.

Paths are texts relative to the workspace, with `/` between names. A name that is not UTF-8 shows the odd bytes as `\xNN`
and a backslash as two, so no two names share a text, and the pins refuse every such path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class EntryKind(StrEnum):
    """What stands at a path."""

    FILE = "file"
    SYMLINK = "symlink"
    DIRECTORY = "directory"
    SPECIAL = "special"  # fifo, socket, device: named, never opened
    UNREADABLE = "unreadable"  # there, but it could not be read or was too large: never judged as harmless


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One thing in a tree. `sha256` belongs to files, `target` to links; `note` says why something is unreadable."""

    path: str
    kind: EntryKind
    mode: int = 0o644  # permission bits, set-id bits among them
    size: int = 0
    sha256: str = ""
    target: str = ""
    note: str = ""

    @property
    def carried_mode(self) -> int:
        """The part of the mode that travels with a repository: executable or not, and the set-id bits."""
        return (0o755 if self.mode & 0o100 else 0o644) | self.mode & 0o7000

    @property
    def content(self) -> tuple[str, str, str]:
        """Two entries with equal content are the same thing, wherever they stand."""
        return (self.kind, self.sha256, self.target)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A whole tree at one moment: its entries by path, and git's own steering files apart."""

    entries: Mapping[str, TreeEntry]
    internals: Mapping[str, TreeEntry] = field(
        default_factory=dict
    )  # config, hooks, info ... of every git directory
    nested: tuple[str, ...] = ()  # repositories and submodules below the root
    incomplete: str = ""  # why the walk stopped early; empty when it did not

    @property
    def links(self) -> dict[str, str]:
        """Where each link leads, by its path."""
        found = self.entries.values()
        return {
            entry.path: entry.target
            for entry in found
            if entry.kind is EntryKind.SYMLINK
        }


class ChangeKind(StrEnum):
    """What happened to a path."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"
    MODE = "mode"  # same content, other executable or set-id bits
    TYPE = "type"  # a file became a link, a link a file ...


@dataclass(frozen=True, slots=True)
class PathChange:
    """One difference between two trees. A rename touches both of its ends."""

    path: str
    kind: ChangeKind
    old_path: str = ""
    before: TreeEntry | None = None
    after: TreeEntry | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path this change touches, the older end first."""
        return (self.old_path, self.path) if self.old_path else (self.path,)


class LinkEscape(StrEnum):
    """How a link leaves the workspace."""

    ABSOLUTE = "absolute"  # points at a fixed place of the machine
    OUTSIDE = "outside"  # climbs out with `..`
    INTERNALS = "internals"  # points into a git directory


@dataclass(frozen=True, slots=True)
class EscapingLink:
    """A changed link whose target leaves the workspace."""

    path: str
    target: str
    escape: LinkEscape = LinkEscape.OUTSIDE


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """The true difference an attempt made. `changes` is what scope and file match are judged by.

    Apart from it stand: files git ignores, changes to git's own steering files, links that leave the workspace, entries that
    cannot be judged, and directories (only empty ones and changed modes: the others are implied by their files).
    """

    changes: tuple[PathChange, ...] = ()
    ignored: tuple[PathChange, ...] = ()
    internals: tuple[PathChange, ...] = ()
    directories: tuple[PathChange, ...] = ()
    escaping_links: tuple[EscapingLink, ...] = ()
    special: tuple[str, ...] = ()  # fifos, sockets, devices that came
    unreadable: tuple[str, ...] = ()  # cannot be judged, so never harmless
    twins: tuple[
        str, ...
    ] = ()  # new paths that differ from another one in letter case or Unicode form only
    nested_added: tuple[
        str, ...
    ] = ()  # repositories inside the repository that were not there before
    nested: tuple[str, ...] = ()  # all of them; their files are in the lists above
    incomplete: str = ""  # why this may not be everything; empty when it is
    internals_known: bool = (
        True  # False when there is no earlier state of git's files to compare with
    )

    def paths(self) -> frozenset[str]:
        """Every path the changes touch, both ends of a rename."""
        return frozenset(path for change in self.changes for path in change.paths)

    def __bool__(self) -> bool:
        return bool(self.changes)


class IsolationLevel(StrEnum):
    """How a command was kept apart, strongest first."""

    BWRAP = "bwrap"  # own mounts, processes and network
    LANDLOCK = "landlock"  # kernel rules on files, TCP and signals; other sockets refused by a system call filter
    RLIMIT = "rlimit"  # limits only: the command has the user's own rights
    NONE = "none"

    @property
    def confines(self) -> bool:
        """Whether writes outside and the network were really refused."""
        return self in (IsolationLevel.BWRAP, IsolationLevel.LANDLOCK)


@dataclass(frozen=True, slots=True)
class LevelProbe:
    """What trying one level on this machine showed."""

    level: IsolationLevel
    works: bool
    detail: str  # version when it works, the reason when it does not
    remedy: str = ""  # what to install or allow


@dataclass(frozen=True, slots=True)
class IsolationProbe:
    """What this machine can do, strongest first. For `accordance doctor` and for `auto`."""

    levels: tuple[LevelProbe, ...]

    @property
    def best(self) -> IsolationLevel | None:
        """The strongest level that confines, or None: `auto` never goes below."""
        return next(
            (
                found.level
                for found in self.levels
                if found.works and found.level.confines
            ),
            None,
        )


class Ending(StrEnum):
    """Why a command ended."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMED_OUT = "timed_out"
    OUTPUT_LIMIT = "output_limit"  # said more than it may
    MEMORY_LIMIT = "memory_limit"
    PROCESS_LIMIT = "process_limit"
    DISK_LIMIT = "disk_limit"
    NOT_STARTED = "not_started"  # no such program, or it may not be run
    ABANDONED = "abandoned"  # whoever asked for it wanted it no more


@dataclass(frozen=True, slots=True)
class CommandRun:
    """One command that accordance itself ran."""

    command: str
    exit_code: int  # as a shell tells it: 128 + signal when a signal ended it, 127 when it did not start
    ending: Ending = Ending.EXITED
    duration_ms: int = 0
    isolation: IsolationLevel = IsolationLevel.NONE
    log_sha256: str = ""
    log_bytes: int = 0  # what was kept
    log_cut: bool = False  # there was more
    leftovers: int = 0  # processes still alive at the end; they were ended
    note: str = ""

    @property
    def passed(self) -> bool:
        """It ran to its own end and said 0."""
        return self.ending is Ending.EXITED and self.exit_code == 0


@dataclass(frozen=True, slots=True)
class SteeringFile:
    """A changed file that can decide how a test run ends without being a test."""

    path: str
    steers: str  # pytest, jest, make ...
    kind: ChangeKind = ChangeKind.MODIFIED


class ArtifactName(StrEnum):
    """The five artifacts of a submission."""

    REPORT_MD = "report_md"
    SELFTEST_LOG = "selftest_log"
    PATCH_DIFF = "patch_diff"
    SUBMIT_JSON = "submit_json"
    EVIDENCE_DIR = "evidence_dir"


@dataclass(frozen=True, slots=True)
class ArtifactFact:
    """What stands where a submission says an artifact is."""

    name: ArtifactName
    path: str  # as the submission says
    exists: bool = False
    readable: bool = False
    size: int = 0
    sha256: str = ""
    inside: bool = True  # below the evidence folder, and no link leads out of it
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SelftestFacts:
    """What a selftest.log shows. It is the agent's own log: it proves nothing, but it can contradict."""

    exit_code: int | None = (
        None  # of the last EXIT_CODE= line, which must be the last line
    )
    commands_missing: tuple[str, ...] = ()  # allowed tests it does not name
    cut: bool = False


@dataclass(frozen=True, slots=True)
class PatchFacts:
    """How the agent's patch.diff stands to the real change."""

    parseable: bool = True
    paths: tuple[str, ...] = ()  # every path it touches, both ends of a rename
    missing: tuple[str, ...] = ()  # really changed, not in the patch
    extra: tuple[str, ...] = ()  # in the patch, not really changed
    same_content: bool | None = (
        None  # applying it to the base gives the real tree; None when not tried
    )
    problem: str = ""


@dataclass(frozen=True, slots=True)
class EvidenceFacts:
    """The agent's evidence, looked at. A part that is None was not looked at."""

    folder: str = ""
    artifacts: tuple[ArtifactFact, ...] = ()
    selftest: SelftestFacts | None = None
    patch: PatchFacts | None = None
    others: tuple[str, ...] = ()  # further files in the folder

    def artifact(self, name: ArtifactName) -> ArtifactFact | None:
        """What is known of one artifact."""
        return next((fact for fact in self.artifacts if fact.name is name), None)


@dataclass(frozen=True, slots=True)
class AttemptFacts:
    """Everything accordance found out about one attempt."""

    base_commit: str = ""  # empty for a directory without git
    changes: ChangeSet = field(default_factory=ChangeSet)
    runs: tuple[CommandRun, ...] = ()
    tests_changed: tuple[
        str, ...
    ] = ()  # what the test run itself changed in its copy; no change of the agent
    steering: tuple[SteeringFile, ...] = ()
    evidence: EvidenceFacts = field(default_factory=EvidenceFacts)
    tree: str = (
        ""  # git's id of the tree that was judged; empty where git cannot name it
    )
    isolation: IsolationLevel | None = None  # None: nothing was run
    isolation_missing: str = ""  # why no command could be run; says what to install
    git_programs: tuple[
        str, ...
    ] = ()  # hooks and settings by which git would run programs in the tree; nothing ran
    lines: int | None = None  # added and removed in files of text; None: nobody counted


CACHES: Final = MappingProxyType(
    {
        "__pycache__": "Python",
        ".pytest_cache": "pytest",
        ".mypy_cache": "mypy",
        ".ruff_cache": "ruff",
        ".hypothesis": "hypothesis",
        ".tox": "tox",
        ".nox": "nox",
        ".venv": "Python",
        "node_modules": "npm",
        ".gradle": "Gradle",
    }
)


def beyond_caches(ignored: Iterable[PathChange]) -> tuple[PathChange, ...]:
    """The ignored changes that no known cache explains; these are judged by scope like any other."""
    return tuple(
        change
        for change in ignored
        if not all(CACHES.keys() & set(path.split("/")[:-1]) for path in change.paths)
    )
