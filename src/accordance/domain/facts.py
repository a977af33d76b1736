r"""Facts: what was really there before and after an attempt.

Accordance collects them itself; nothing here is a claim of the agent. The workspace
layer fills these values in, the gates judge by them alone, and the evidence bundle
stores them, so that a verdict can be recomputed.

Paths are relative to the workspace, with `/` between names. A name that is not UTF-8
shows its odd bytes as `\xNN` and a backslash as two, so that no two names share a text,
and the pins refuse every such path.

The module is long because it is the whole list: a bundle stores all of it, and nothing
else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from accordance.domain.left_out import LeftOut
from accordance.domain.mutation_check import MutationCheck
from accordance.domain.test_results import TestOutcome, TestReport, TestResult


class EntryKind(StrEnum):
    """The kind of file at a path."""

    FILE = "file"
    SYMLINK = "symlink"
    DIRECTORY = "directory"
    SPECIAL = "special"  # fifo, socket, device: listed, never opened
    UNREADABLE = "unreadable"  # could not be read or is too large: never harmless


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A file, link or directory of a tree.

    `sha256` belongs to files, `target` to links; `note` is the reason why an entry is
    unreadable.
    """

    path: str
    kind: EntryKind
    mode: int = 0o644  # permission bits, set-id bits among them
    size: int = 0
    sha256: str = ""
    target: str = ""
    note: str = ""

    @property
    def carried_mode(self) -> int:
        """The mode as a repository carries it: executable or not, and set-id bits."""
        is_executable = bool(self.mode & 0o100)
        permissions = 0o755 if is_executable else 0o644
        set_id_bits = self.mode & 0o7000
        return permissions | set_id_bits

    @property
    def content(self) -> tuple[str, str, str]:
        """Entries of equal content are interchangeable, wherever they are."""
        return (self.kind, self.sha256, self.target)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A whole tree at a moment.

    `internals` are config, hooks and info of every git directory, `nested` the
    repositories and submodules below the root. `incomplete` is the reason why the walk
    stopped early; it is empty when it did not. `left_out` is what the walk passed by.
    """

    entries: Mapping[str, TreeEntry]
    internals: Mapping[str, TreeEntry] = field(default_factory=dict)
    nested: tuple[str, ...] = ()
    incomplete: str = ""
    left_out: tuple[LeftOut, ...] = ()

    @property
    def links(self) -> dict[str, str]:
        """The target of each link, by the link's path."""
        targets = {}
        for entry in self.entries.values():
            if entry.kind is EntryKind.SYMLINK:
                targets[entry.path] = entry.target
        return targets


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
    """A difference between two trees. A rename touches both of its ends."""

    path: str
    kind: ChangeKind
    old_path: str = ""
    before: TreeEntry | None = None
    after: TreeEntry | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path this change touches, the older end first."""
        if self.old_path:
            return (self.old_path, self.path)
        return (self.path,)


class LinkEscape(StrEnum):
    """How a link leaves the workspace."""

    ABSOLUTE = "absolute"  # points at a fixed place on the machine
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
    """The true difference an attempt made. `changes` decides scope and file match.

    Listed apart: files that git ignores, changes to git's own steering files, links
    that leave the workspace, entries that cannot be judged, and directories (only empty
    ones and changed modes: the others are implied by their files).
    """

    changes: tuple[PathChange, ...] = ()
    ignored: tuple[PathChange, ...] = ()
    internals: tuple[PathChange, ...] = ()
    directories: tuple[PathChange, ...] = ()
    escaping_links: tuple[EscapingLink, ...] = ()
    special: tuple[str, ...] = ()  # fifos, sockets, devices that were added
    unreadable: tuple[str, ...] = ()  # cannot be judged, so never harmless
    # new paths that differ from another path only in letter case or Unicode form
    twins: tuple[str, ...] = ()
    nested_added: tuple[str, ...] = ()  # new repositories inside the repository
    nested: tuple[str, ...] = ()  # all of them; their files are in the lists above
    incomplete: str = ""  # why this may not be everything; empty when it is
    internals_known: bool = True  # False: git's files have no earlier state to compare
    left_out: tuple[LeftOut, ...] = ()  # what tools left, of no effect on anything

    def paths(self) -> frozenset[str]:
        """Every path the changes touch, both ends of a rename."""
        touched: set[str] = set()
        for change in self.changes:
            touched.update(change.paths)
        return frozenset(touched)

    def __bool__(self) -> bool:
        return bool(self.changes)


class IsolationLevel(StrEnum):
    """How a command was isolated, strongest first.

    Landlock sets kernel rules on files, TCP and signals; a system call filter refuses
    all other sockets.
    """

    BWRAP = "bwrap"  # own mounts, processes and network
    LANDLOCK = "landlock"
    RLIMIT = "rlimit"  # limits only: the command has the user's own rights
    NONE = "none"

    @property
    def confines(self) -> bool:
        """Whether the level really refuses outside writes and the network."""
        return self in (IsolationLevel.BWRAP, IsolationLevel.LANDLOCK)


@dataclass(frozen=True, slots=True)
class LevelProbe:
    """The result of trying an isolation level on this machine."""

    level: IsolationLevel
    works: bool
    detail: str  # version when it works, the reason when it does not
    remedy: str = ""  # what to install or allow


@dataclass(frozen=True, slots=True)
class IsolationProbe:
    """The levels of this machine, strongest first, for `doctor` and for `auto`."""

    levels: tuple[LevelProbe, ...]

    @property
    def best(self) -> IsolationLevel | None:
        """The strongest level that confines, or None: `auto` never goes below."""
        for probe in self.levels:
            if probe.works and probe.level.confines:
                return probe.level
        return None


class Ending(StrEnum):
    """Why a command ended."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMED_OUT = "timed_out"
    OUTPUT_LIMIT = "output_limit"  # printed more than it may
    MEMORY_LIMIT = "memory_limit"
    PROCESS_LIMIT = "process_limit"
    DISK_LIMIT = "disk_limit"
    NOT_STARTED = "not_started"  # no such program, or it may not be run
    ABANDONED = "abandoned"  # the caller no longer wanted it


@dataclass(frozen=True, slots=True)
class CommandRun:
    """A command that accordance itself ran.

    `exit_code` is that of a shell: 128 + signal when a signal ended the command, 127
    when it did not start.
    """

    command: str
    exit_code: int
    ending: Ending = Ending.EXITED
    duration_ms: int = 0
    isolation: IsolationLevel = IsolationLevel.NONE
    log_sha256: str = ""
    log_bytes: int = 0  # what was kept
    log_cut: bool = False  # there was more
    leftovers: int = 0  # processes still alive at the end, which were ended
    note: str = ""
    report: TestReport | None = None  # of every test, where a known runner ran them
    missing: str = ""  # the program or module for want of which no test ran

    @property
    def passed(self) -> bool:
        """Whether it ran to its own end and exited with 0."""
        return self.ending is Ending.EXITED and self.exit_code == 0

    @property
    def results(self) -> tuple[TestResult, ...]:
        """The tests that it reports."""
        if self.report is None:
            return ()
        return self.report.results

    @property
    def failed_tests(self) -> tuple[str, ...]:
        """The tests that it reports as failed."""
        return tuple(result.test for result in self.results if result.failed)

    @property
    def sound_report(self) -> TestReport | None:
        """Its report, if it has a report that can be relied on."""
        if self.report is not None and self.report.is_sound:
            return self.report
        return None


@dataclass(frozen=True, slots=True)
class SteeringFile:
    """A changed file that is no test but can decide how a test run ends."""

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
    """The file at the path that a submission gives for an artifact."""

    name: ArtifactName
    path: str  # as submitted
    exists: bool = False
    readable: bool = False
    size: int = 0
    sha256: str = ""
    inside: bool = True  # below the evidence folder, and no link leads out of it
    problem: str = ""
    ours: bool = False  # made by accordance from facts: the agent left it out


@dataclass(frozen=True, slots=True)
class SelftestFacts:
    """What a selftest.log shows.

    It is the agent's own log: it proves nothing, but it can contradict.
    """

    exit_code: int | None = None  # of EXIT_CODE=, which must be the last line
    commands_missing: tuple[str, ...] = ()  # allowed tests it does not name
    cut: bool = False


@dataclass(frozen=True, slots=True)
class PatchFacts:
    """How the agent's patch.diff compares with the real change.

    `same_content`: applied to the base, it gives the real tree; None when not tried.
    """

    parseable: bool = True
    paths: tuple[str, ...] = ()  # every path it touches, both ends of a rename
    missing: tuple[str, ...] = ()  # really changed, not in the patch
    extra: tuple[str, ...] = ()  # in the patch, not really changed
    same_content: bool | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class EvidenceFacts:
    """The agent's evidence, examined. A part that is None was not examined."""

    folder: str = ""
    artifacts: tuple[ArtifactFact, ...] = ()
    selftest: SelftestFacts | None = None
    patch: PatchFacts | None = None
    others: tuple[str, ...] = ()  # further files in the folder

    def artifact(self, name: ArtifactName) -> ArtifactFact | None:
        """Return the fact about an artifact, if it was recorded."""
        for fact in self.artifacts:
            if fact.name is name:
                return fact
        return None


@dataclass(frozen=True, slots=True)
class HiddenRuns:
    """Runs with tests that no agent may see."""

    files: tuple[str, ...] = ()
    runs: tuple[CommandRun, ...] = ()


@dataclass(frozen=True, slots=True)
class OtherVersionRuns:
    """Runs with certain test files in another version than the source."""

    files: tuple[str, ...] = ()
    runs: tuple[CommandRun, ...] = ()


@dataclass(frozen=True, slots=True)
class TestReruns:
    """What a failing test did when it was run again, alone."""

    __test__ = False  # the name means something else to pytest

    command: str
    test: str
    outcomes: tuple[TestOutcome, ...] = ()  # up to the first that passed
    on_base: bool = False
    permitted: bool = False  # whether the settings let it be flaky


@dataclass(frozen=True, slots=True)
class ChangedLines:
    """The changed lines of a file that hold code, and those that no test ran."""

    file: str
    changed: tuple[int, ...] = ()
    never_run: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LoosenedTest:
    """A test of a changed file that asserts less than before."""

    file: str
    test: str  # its name in the file; empty for the file itself
    how: str


@dataclass(frozen=True, slots=True)
class AttemptFacts:
    """Everything accordance learned about an attempt.

    `tests_changed` is what the test run itself changed in its copy; it is no change of
    the agent. `tree` is git's id of the judged tree, empty where git cannot name it.
    `git_programs` are hooks and settings by which git would run programs in the tree;
    none of them ran. `old_tests` are runs of the base's tests on the changed source,
    `new_tests` of the changed tests on the base's source.
    """

    base_commit: str = ""  # empty for a directory without git
    changes: ChangeSet = field(default_factory=ChangeSet)
    runs: tuple[CommandRun, ...] = ()
    tests_changed: tuple[str, ...] = ()
    steering: tuple[SteeringFile, ...] = ()
    evidence: EvidenceFacts = field(default_factory=EvidenceFacts)
    tree: str = ""
    isolation: IsolationLevel | None = None  # None: nothing was run
    isolation_missing: str = ""  # why no command could run, and what to install
    environment_broken: str = ""  # what tests need and do not have, and what to do
    git_programs: tuple[str, ...] = ()
    lines: int | None = None  # added and removed in text files; None: not counted
    version: int = 1  # of what was collected; see CURRENT_FACTS
    base_runs: tuple[CommandRun, ...] = ()  # the same commands, on the base
    given_tests: tuple[str, ...] = ()  # changed files that ran as the base has them
    hidden: HiddenRuns | None = None
    old_tests: OtherVersionRuns = field(default_factory=OtherVersionRuns)
    new_tests: OtherVersionRuns = field(default_factory=OtherVersionRuns)
    loosened: tuple[LoosenedTest, ...] = ()
    reruns: tuple[TestReruns, ...] = ()
    lines_reached: tuple[ChangedLines, ...] | None = None  # None: not looked at
    mutants: MutationCheck | None = None  # None: none were tried


WITH_TEST_REPORTS: Final = 2
"""From this version of facts on, every test is reported, and "nothing changed" is a fault.

Evidence of earlier versions is judged by the rules it was collected for.
"""

WITH_LEFT_OUT: Final = 3
"""From this version of facts on, what the base ignores is left out and not blamed."""

WITH_TEST_POLICY: Final = 4
"""From this version of facts on, tests that prove little are a matter of policy."""

WITH_ENVIRONMENT_GATE: Final = 5
"""From this version of facts on, no fault of the evidence outweighs a broken environment.

It is the machine's fault, and no further attempt of the agent would mend it.
"""

WITH_MUTANTS: Final = 6
"""From this version of facts on, faults in changed lines may have been tried."""

WITH_FAILING_TESTS_KEPT: Final = 7
"""From this version of facts on, a test that failed at the base may not be given up."""

WITH_FAILURES_TOLD: Final = 8
"""From this version of facts on, the next attempt learns why tests failed."""

WITH_FAILING_TESTS_AS_THEY_WERE: Final = 9
"""From this version of facts on, a test that failed must pass as the base has it."""

WITH_AGENT_HOOKS: Final = 10
"""From this version of facts on, files that steer agents and hooks are told apart."""

CURRENT_FACTS: Final = WITH_AGENT_HOOKS

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
    """Return the ignored changes that no known cache explains.

    Scope judges these like any other change.
    """
    return tuple(change for change in ignored if not _is_cached(change))


def _is_cached(change: PathChange) -> bool:
    """Whether every path of the change lies in a folder of a known cache."""
    return all(is_in_cache(path) for path in change.paths)


def is_in_cache(path: str) -> bool:
    """Whether a path lies in a folder of a known cache."""
    folders = path.split("/")[:-1]
    return not CACHES.keys().isdisjoint(folders)
