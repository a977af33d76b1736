"""A whole judgement: from a task, a submission and a tree to a verdict that rests on facts, with its evidence kept.

    judgement = judge(Path("task.json"), Path("submit.json"), repo="checkout", base=COMMIT_ID)
    if not judgement:
        print(judgement.verdict.reason)

The steps: the task is read and looked at (preflight), the base cloned, the tree walked, the change and the evidence
compared, every test run on a copy, isolated; then the gates, the judge, the bundle and, where a key is given, its signature.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Final, NamedTuple, TypeAlias

from accordance.contracts.catalogue.task import TaskInput
from accordance.contracts.violation import Accepted
from accordance.domain.case import (
    Author,
    Breach,
    Budget,
    Submission,
    Usage,
    chosen_tests,
    claim_context,
    tests_of,
)
from accordance.domain.escalation import LadderPosition, tiers_of
from accordance.domain.facts import ArtifactName, Snapshot
from accordance.domain.findings import listed
from accordance.domain.judging import History
from accordance.domain.roles import higher_role, max_attempts
from accordance.domain.terms import Terms, case_under
from accordance.errors import NotFound
from accordance.gates.running import verdict_on
from accordance.judging.bundles import (
    earlier_failures,
    free_place,
    keep,
    links_to,
    sign,
)
from accordance.judging.claims import read_claim
from accordance.judging.judgement import Judgement
from accordance.judging.own_submission import Claim, hand_in
from accordance.judging.task_input import (
    Paper,
    TaskRequest,
    left_behind,
    look_at,
    out_of_reach,
    read_submission,
    read_task,
)
from accordance.project.base_settings import settings_at
from accordance.project.policy import Gateway, gateway_of, with_isolation
from accordance.workspace.baseline import Baseline, fixed_base, read_baseline
from accordance.workspace.bundle import Papers, bundle_folder
from accordance.workspace.clone import Workspace, adopt, scratch
from accordance.workspace.collecting import (
    AttemptSetting,
    CollectedFacts,
    base_snapshot,
    collect,
)
from accordance.workspace.errors import BasesDiffer, NoEarlierCopy
from accordance.workspace.evidence import EvidenceRequest
from accordance.workspace.git import git_directory
from accordance.workspace.git_settings import git_settings, programs
from accordance.workspace.isolation import Room
from accordance.workspace.snapshot import StatCache

Tell: TypeAlias = Callable[[str], object]
_MOST_CHOSEN: Final = (
    10  # of the agent's own test commands; each may take its whole time
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptTree:
    """Where an attempt was made: its workspace, the tree before, and a folder the agent cannot reach.

    Whoever has run the attempt may know more about it than whoever only judges, and hands that on.
    """

    workspace: Workspace
    before: Snapshot
    private: Path
    after: Snapshot | None = (
        None  # the tree as the agent left it; None: it is read when it is judged
    )
    has_passed_preflight: bool = False  # on this very ground, before the agent began
    cache: StatCache | None = None
    appears_at: Path | None = None  # where tests see their copy
    git_programs: tuple[
        str, ...
    ] = ()  # that git would run there, in a tree that is not our clone


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """How an attempt is judged: by which rules, as which attempt, after what was seen of it."""

    gateway: Gateway = field(default_factory=Gateway)
    attempt: int = 1  # of those that count
    number: int | None = (
        None  # what its bundle is called, where others came between that do not count
    )
    earlier: tuple[str, ...] | None = (
        None  # how earlier attempts failed; None: their bundles say so
    )
    usage: Usage = field(default_factory=Usage)
    budget: Budget = field(default_factory=Budget)
    breaches: tuple[Breach, ...] = ()
    upgrades_at_once: bool = False  # every failure is followed by the next stronger model, where there is one
    claim: Claim | None = (
        None  # of somebody who can only speak, and for whom accordance hands in
    )
    bundles: Path | None = None  # the folder above artifacts/; None keeps no bundle
    owner: str | None = (
        None  # of one of several runs: its bundle gets its name when it counts
    )
    attest: Path | None = None  # the private key to sign the bundle with
    forbids: Callable[[str], bool] | None = (
        None  # paths that nothing an agent is told may come from
    )
    stop: Event | None = (
        None  # once it is set, tests are ended, and the judgement is worth nothing
    )
    tell: Tell = str

    def bundle_of(self, task: TaskInput) -> Path | None:
        """Where the evidence lies when it counts."""
        if self.bundles is None:
            return None
        return bundle_folder(self.bundles, task.task_id, self.number or self.attempt)


def judge(  # noqa: PLR0913 - everything that can be said about an attempt, by name
    task: Paper,
    submit: Paper | None = None,
    *,
    repo: Path | str = ".",
    base: str | None = None,
    baseline: Path | str | None = None,
    strict: bool = False,
    attempt: int = 1,
    isolation: str | None = None,
    artifacts: Path | str | None = None,
    attest: Path | str | None = None,
    usage: Usage | None = None,
    tell: Tell = str,
) -> Judgement:
    """Judge the tree in `repo` as an agent left it, committed or not, against `base` or a recorded `baseline`.

    `base` is the full id of the commit the agent began at; without git, an earlier copy of the directory. A name such as HEAD
    or main is refused, because the agent can move it. `strict` refuses a tree in which git would run programs that no
    baseline knows.

    Without `submit`, the one the agent left in artifacts/{task_id}/ counts; where there is none, accordance makes one from
    facts. The bundle goes to artifacts/{task_id}/attempt-{n}/ below `artifacts`, or below the repository. `attest` is a private
    key to sign it with. `tell` is called with what is being done.

    Raises PreflightFailed, TaskInReach, NotFound, Conflict, InvalidSettings, InvalidRole and WorkspaceError.
    """
    root = top_of(Path(repo), base)
    recorded = None if baseline is None else read_baseline(Path(baseline), root)
    commit = _begun_at(root, base, recorded)
    gateway = gateway_of(settings_at(root, commit), root)
    if isolation is not None:
        gateway = with_isolation(gateway, isolation)
    asked = read_task(task, gateway)
    out_of_reach(task, asked, root, commit)
    how = JudgeOptions(
        gateway=gateway,
        attempt=attempt,
        usage=usage or Usage(),
        breaches=_meddling(root, recorded, strict=strict),
        bundles=Path(artifacts) if artifacts is not None else root,
        attest=Path(attest) if attest is not None else None,
        tell=tell,
    )
    submitted = None if submit is None else read_submission(submit, root)
    _could_be_kept(how, asked.task)
    with scratch() as folder:
        tell("cloning the base")
        workspace = adopt(root, folder / "ours", base=commit)
        hidden = folder.resolve().is_relative_to(
            root
        )  # the copy would cover its own home
        ground = AttemptTree(
            workspace=workspace,
            before=base_snapshot(workspace),
            private=folder / "private",
            appears_at=None if hidden else root,
            git_programs=programs(git_settings(root)),
        )
        return judge_on(ground, asked, submitted, how)


def judge_on(
    ground: AttemptTree, asked: TaskRequest, submit: bytes | None, how: JudgeOptions
) -> Judgement:
    """Judge an attempt on prepared ground. Call it when the agent's processes are gone. Raises as `judge` does."""
    log, task = _Log(how.tell), asked.task
    if not ground.has_passed_preflight:
        log("looking at the task")
        look_at(
            task,
            ground.before,
            how.gateway,
            Room(ground.private, readable=how.gateway.readable),
        )
    place = _place(how, task)
    submitted_at = _now()
    if submit is None and how.claim is None:
        submit = left_behind(ground.workspace.work, task.task_id)
    handed_in = how.claim if submit is None else submit
    found = _find_out(
        ground, task, handed_in, _setting(ground, how, log), how.gateway.tests
    )
    log("judging")
    terms = _terms(task, how, "accordance" if submit is None else "agent")
    case = case_under(
        terms, task, found.submission, found.collected.facts, found.collected.links
    )
    judgement = Judgement(
        verdict=verdict_on(case, terms.history),
        case=case,
        terms=terms,
        submitted_at=submitted_at,
        evaluated_at=_now(),
        links=links_to(found.collected.facts.evidence, how.bundle_of(task)),
        shown=found.collected.shown,
    )
    if place is None:
        return judgement
    log("writing the bundle")
    papers = Papers(asked.raw, b"", found.submit, log.text, made=found.made)
    keep(judgement, place, found.collected, ground.workspace.work, papers)
    if how.attest is not None:
        sign(judgement, place, how.attest)
    return replace(judgement, bundle=place)


def _place(how: JudgeOptions, task: TaskInput) -> Path | None:
    """Where the bundle is written."""
    if how.bundles is None:
        return None
    return free_place(how.bundles, task.task_id, how.number or how.attempt, how.owner)


class _Found(NamedTuple):
    """What was found out about an attempt, and the artifacts, where accordance had to make them."""

    submit: bytes
    submission: Submission
    collected: CollectedFacts
    made: Mapping[str, bytes] | None = None


def _find_out(
    ground: AttemptTree,
    task: TaskInput,
    submit: bytes | Claim | None,
    setting: AttemptSetting,
    own_tests: tuple[str, ...],
) -> _Found:
    """Collect the facts; where no agent handed anything in, or could, do so from them."""
    ground.private.mkdir(parents=True, exist_ok=True)
    workspace = ground.workspace
    context = claim_context(task)
    submission = read_claim(submit, context) if isinstance(submit, bytes) else None
    said = _said(task, submission, own_tests)
    scratch_place = ground.private / "scratch"
    collected = collect(
        workspace, ground.before, scratch_place, said, setting, after=ground.after
    )
    collected = replace(
        collected, facts=replace(collected.facts, git_programs=ground.git_programs)
    )
    if isinstance(submit, bytes) and submission is not None:
        return _Found(submit, submission, collected)
    setting.tell("handing in, because no agent did")
    claim = submit if isinstance(submit, Claim) else None
    handed_in = hand_in(
        task, collected, workspace, said, ground.private / "ours", claim
    )
    ours = read_claim(handed_in.submit, context)
    return _Found(handed_in.submit, ours, handed_in.collected, handed_in.artifacts)


def _begun_at(root: Path, base: str | None, recorded: Baseline | None) -> str:
    """The commit, or the earlier copy, that the agent began with."""
    if recorded is not None:
        if base is not None and base != recorded.commit:
            raise BasesDiffer(
                f"{base} is not the commit of the baseline, {recorded.commit}",
                way_out="name one of the two",
            )
        return recorded.commit
    if git_directory(root):
        return fixed_base(root, base)
    if base is None:
        raise NoEarlierCopy(
            f"{root} is no git repository: without an earlier copy there is nothing to compare"
        )
    return str(Path(base).resolve())


def _meddling(
    root: Path, recorded: Baseline | None, *, strict: bool
) -> tuple[Breach, ...]:
    """What was done to git's own settings, as far as that can be known."""
    if recorded is not None:
        changed = recorded.changed_settings(root)
        text = f"git's own settings have changed since the baseline: {listed(changed)}"
        return (Breach("SCOPE_CONFLICT", text),) if changed else ()
    known = programs(git_settings(root)) if strict else ()
    text = f"git would run programs in this tree, and no baseline says that they were there before: {listed(known)}"
    return (Breach("SCOPE_CONFLICT", text),) if known else ()


def top_of(repo: Path, base: str | None = None) -> Path:
    """The top of the working tree; a directory without git, judged against an earlier copy, is its own."""
    here = repo.resolve()
    if not here.is_dir():
        raise NotFound("directory", str(repo))
    if base is not None and Path(base).is_dir() and git_directory(here) is None:
        return here
    return next(
        (folder for folder in (here, *here.parents) if git_directory(folder)), here
    )


def _could_be_kept(how: JudgeOptions, task: TaskInput) -> None:
    """What would be in the way at the end is said at the beginning."""
    if how.bundles is not None:
        free_place(how.bundles, task.task_id, how.attempt)
    if how.attest is not None:
        from accordance.workspace.attestation import check_key

        check_key(how.attest)


def _said(
    task: TaskInput, submission: Submission | None, own_tests: tuple[str, ...]
) -> EvidenceRequest:
    claim = submission.value if isinstance(submission, Accepted) else None
    chosen = chosen_tests(task, claim)[:_MOST_CHOSEN]
    tests = dict.fromkeys((*tests_of(task, own_tests), *chosen))
    usual = EvidenceRequest.usually(task.task_id, tuple(tests))
    if not isinstance(submission, Accepted):
        return usual
    places = {
        name: str(getattr(submission.value.artifacts, name)) for name in ArtifactName
    }
    return replace(usual, places=places)


def _setting(ground: AttemptTree, how: JudgeOptions, tell: Tell) -> AttemptSetting:
    gateway = how.gateway
    return AttemptSetting(
        isolation=gateway.isolation,
        limits=gateway.limits,
        readable=gateway.readable,
        carry=gateway.carry,
        appears_at=ground.appears_at,
        environment=gateway.environment,
        cache=ground.cache,
        forbids=how.forbids,
        stop=how.stop,
        tell=tell,
    )


def _terms(task: TaskInput, how: JudgeOptions, submitted_by: Author) -> Terms:
    gateway, role = how.gateway, how.gateway.roles[task.role]
    above = higher_role(role, gateway.roles)
    standing = LadderPosition(
        attempt=how.attempt,
        max_attempts=max_attempts(role, task.max_attempts, gateway.max_attempts),
        repeat_threshold=gateway.repeat_threshold,
        model_tier=_model_tier(how),
        allowed_tiers=tiers_of(_models(task, how), gateway.tiers),
        higher_role=above is not None,
        role_above=above.name if above else None,
        upgrades_at_once=how.upgrades_at_once,
    )
    earlier = how.earlier
    if earlier is None:
        earlier = (
            ()
            if how.bundles is None
            else earlier_failures(how.bundles, task.task_id, how.attempt)
        )
    return Terms(
        role=role,
        history=History(standing, earlier),
        usage=how.usage,
        budget=how.budget,
        breaches=how.breaches,
        own_tests=gateway.tests,
        submitted_by=submitted_by,
    )


def _models(task: TaskInput, how: JudgeOptions) -> Iterable[str]:
    """The models that could try next: those the task allows; where it says nothing, those that would be asked."""
    if task.allowedModels is None and how.upgrades_at_once:
        return how.gateway.tiers
    return task.allowedModels or ()


def _model_tier(how: JudgeOptions) -> int | None:
    """How strong the model is; for a run that upgrades, one that is in no table is weaker than all that are."""
    tiers = how.gateway.tiers
    tier = tiers.get(how.usage.model or "")
    return (
        max(tiers.values()) + 1
        if tier is None and tiers and how.upgrades_at_once
        else tier
    )


def _now() -> str:
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class _Log:
    """What is being done, told to whoever listens and kept for the bundle."""

    def __init__(self, tell: Tell) -> None:
        self.text = ""
        self._tell = tell

    def __call__(self, what: str) -> None:
        self.text += f"{_now()} {what}\n"
        self._tell(what)
