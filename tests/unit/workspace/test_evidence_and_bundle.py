"""What is collected about an attempt, what is kept of it, and who signed it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from accordance.domain.facts import (
    ArtifactName,
    ChangeKind,
    ChangeSet,
    EvidenceFacts,
    IsolationLevel,
    IsolationProbe,
    PathChange,
)
from accordance.workspace import attestation, bundle
from accordance.workspace.attempt_setting import AttemptSetting
from accordance.workspace.attestation import sign_bundle, verify_bundle
from accordance.workspace.bundle import (
    Papers,
    broken_files,
    bundle_folder,
    read_facts,
    read_tree,
    write_bundle,
)
from accordance.workspace.clone import Workspace, adopt, clone
from accordance.workspace.collecting import CollectedFacts, base_snapshot, collect
from accordance.workspace.errors import (
    BundleBroken,
    IsolationUnavailable,
    UnsafeName,
    WorkspaceChanging,
    WorkspaceError,
)
from accordance.workspace.evidence import EvidenceRequest, evidence_folder
from accordance.workspace.patching import readable_patch
from accordance.workspace.snapshot import take_snapshot
from accordance.workspace.steering import steering_files, steers
from accordance.workspace.testing import lay_out
from tests.hostile.stage import git
from tests.keys import new_key
from tests.unit.workspace.repositories import commit, repository, write

TASK = "task-1"
FOLDER = f"artifacts/{TASK}"
COMMAND = "cat src/app.py"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A fresh clone."""
    return clone(repository(tmp_path / "r"), tmp_path / "attempt")


def _collect(
    workspace: Workspace, tmp_path: Path, *tests: str, **more: str
) -> CollectedFacts:
    before = base_snapshot(workspace)
    write(workspace.work, {"src/app.py": "APP = 2\n", **more})
    return collect(
        workspace, before, tmp_path / "scratch", EvidenceRequest.usually(TASK, tests)
    )


def _facts(workspace: Workspace, tmp_path: Path, **more: str) -> EvidenceFacts:
    return _collect(workspace, tmp_path, **more).facts.evidence


@pytest.mark.seed("004-37")
def test_evidence_is_looked_at(workspace: Workspace, tmp_path: Path) -> None:
    """All that is there, with hashes; the rest of the folder by name."""
    files = {
        name: f"{FOLDER}/{name}"
        for name in ("report.md", "selftest.log", "submit.json", "evidence/shot.txt")
    }
    found = _facts(
        workspace, tmp_path, **dict.fromkeys(files.values(), "text\nEXIT_CODE=3\n")
    )
    report = found.artifact(ArtifactName.REPORT_MD)
    assert report is not None
    assert (report.exists, report.readable, report.size, len(report.sha256)) == (
        True,
        True,
        17,
        64,
    )
    assert found.selftest is not None
    assert found.selftest.exit_code == 3
    patch = found.artifact(ArtifactName.PATCH_DIFF)
    assert patch is not None
    assert (patch.exists, patch.problem, found.patch) == (False, "no such file", None)
    assert found.others == (f"{FOLDER}/evidence/shot.txt",)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ok\nEXIT_CODE=0\n", 0),
        ("ok\nEXIT_CODE=0", 0),
        ("EXIT_CODE=-9\n\n", -9),
        ("EXIT_CODE=0\nmore\n", None),
        ("ok\n", None),
        ("EXIT_CODE=zero\n", None),
        (" \n", None),
    ],
)
def test_the_log_ends_with_its_exit_code(
    workspace: Workspace, tmp_path: Path, text: str, code: int | None
) -> None:
    """The last line counts, no other."""
    found = _facts(workspace, tmp_path, **{f"{FOLDER}/selftest.log": text})
    assert found.selftest is not None
    assert found.selftest.exit_code == code


def test_artifacts_of_the_wrong_kind(workspace: Workspace, tmp_path: Path) -> None:
    """A folder is no report, a file is no evidence folder."""
    found = _facts(
        workspace, tmp_path, **{f"{FOLDER}/report.md/x": "x", f"{FOLDER}/evidence": "x"}
    )
    facts = {fact.name: fact for fact in found.artifacts}
    assert (
        facts[ArtifactName.REPORT_MD].exists,
        facts[ArtifactName.REPORT_MD].readable,
    ) == (True, False)
    assert (
        facts[ArtifactName.EVIDENCE_DIR].exists,
        facts[ArtifactName.EVIDENCE_DIR].readable,
    ) == (
        True,
        False,
    )


@pytest.mark.parametrize(
    "place", ["../x", "/etc/hostname", "src/app.py", f"{FOLDER}-2/x", "a\\b", ""]
)
def test_artifacts_elsewhere_are_not_opened(
    workspace: Workspace, tmp_path: Path, place: str
) -> None:
    """Whatever the submission says."""
    usual = EvidenceRequest.usually(TASK)
    said = replace(usual, places={**usual.places, ArtifactName.REPORT_MD: place})
    found = collect(
        workspace, base_snapshot(workspace), tmp_path / "s", said
    ).facts.evidence
    report = found.artifact(ArtifactName.REPORT_MD)
    assert report is not None
    assert (report.inside, report.exists, report.sha256) == (False, False, "")


def test_a_task_id_that_is_a_path_has_no_folder() -> None:
    """Neither for evidence nor for a bundle."""
    with pytest.raises(UnsafeName):
        evidence_folder("../../etc")
    with pytest.raises(UnsafeName):
        bundle_folder(Path("root"), "a/b", 1)


def test_tests_run_on_what_would_be_taken_over(
    workspace: Workspace, tmp_path: Path
) -> None:
    """The change is there; ignored files, evidence, planted git settings and escaping links are not."""
    before = base_snapshot(workspace)
    (workspace.work / "src/out").symlink_to("/etc")
    (workspace.work / "src/in").symlink_to("app.py")
    files = {
        "src/app.py": "APP = 2\n",
        "build/x": "ignored",
        f"{FOLDER}/report.md": "r",
    }
    write(workspace.work, {**files, ".git/config": "[core]\n\tbare = true\n"})
    commands = (
        COMMAND,
        "ls -A . src build artifacts",
        "git status --short",
        "exit 3",
        "echo changed > src/app.py; touch new",
    )
    collected = collect(
        workspace, before, tmp_path / "scratch", EvidenceRequest.usually(TASK, commands)
    )
    outputs = [log.read_text("utf-8") for log in collected.logs]
    assert [run.exit_code for run in collected.facts.runs] == [0, 2, 0, 3, 0]
    assert outputs[0] == "APP = 2\n"
    assert "out" not in outputs[1].split()
    assert "in" in outputs[1].split()
    assert "'build'" in outputs[1]
    assert outputs[2] == " M src/app.py\n?? src/in\n"
    assert collected.facts.tests_changed == ("new", "src/app.py")
    assert (workspace.work / "src/app.py").read_text("utf-8") == "APP = 2\n"
    assert collected.facts.isolation in (IsolationLevel.BWRAP, IsolationLevel.LANDLOCK)
    assert [one.path for one in collected.facts.changes.internals] == [".git/config"]


def test_ignored_folders_can_be_carried_along(
    workspace: Workspace, tmp_path: Path
) -> None:
    """Where tests need what is installed in the tree; only what is named."""
    before = base_snapshot(workspace)
    write(workspace.work, {"build/x": "carried", "a.cache": "left"})
    said = EvidenceRequest.usually(TASK, ("cat build/x", "cat a.cache"))
    found = collect(
        workspace, before, tmp_path / "s", said, AttemptSetting(carry=("build",))
    )
    assert [run.exit_code for run in found.facts.runs] == [0, 1]


def test_a_tree_that_changes_after_the_snapshot_is_not_tested(
    workspace: Workspace, tmp_path: Path
) -> None:
    """Evidence about another tree would be no evidence."""
    after = take_snapshot(workspace.work)
    write(workspace.work, {"src/app.py": "APP = 9\n"})
    with pytest.raises(WorkspaceChanging, match="no longer what the snapshot saw"):
        lay_out(workspace, after, ChangeSet(), tmp_path / "copy")


def test_without_isolation_nothing_runs(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The facts say why; the tests did not run."""

    def none(_: str) -> IsolationLevel:
        raise IsolationUnavailable("auto", IsolationProbe(()))

    monkeypatch.setattr("accordance.workspace.collecting.level_for", none)
    facts = _collect(workspace, tmp_path, COMMAND).facts
    assert "nothing was run" in facts.isolation_missing
    assert facts.runs == ()


def test_adopted_work_is_collected(tmp_path: Path) -> None:
    """The user's own tree, against a base; git's files cannot be compared and that is said."""
    place = repository(tmp_path / "r")
    write(place, {"src/app.py": "APP = 2\n"})
    commit(place, "work")
    made = adopt(place, tmp_path / "private", base="HEAD~1")
    found = collect(
        made,
        base_snapshot(made),
        tmp_path / "scratch",
        EvidenceRequest.usually(TASK, (COMMAND,)),
    ).facts
    assert found.changes.paths() == {"src/app.py"}
    assert (found.changes.internals_known, found.runs[0].passed) == (False, True)
    assert git(place, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("path", "steered"),
    [
        ("conftest.py", True),
        ("tests/deep/conftest.py", True),
        ("Makefile", True),
        ("sub/makefile", True),
        ("pyproject.toml", True),
        ("package.json", True),
        ("jest.config.mjs", True),
        (".mocharc.cjs", True),
        (".github/workflows/ci.yml", True),
        ("x.pth", True),
        ("node_modules/jest/index.js", True),
        ("Cargo.toml", True),
        ("src/app.py", False),
        ("tests/test_app.py", False),
        ("docs/conftest.md", False),
        ("conftest.py/readme.md", False),
    ],
)
def test_files_that_steer_tests(path: str, steered: bool) -> None:
    """Known by name, in any folder and letter case."""
    assert bool(steers(path)) == steered
    change = PathChange("elsewhere", ChangeKind.RENAMED, path)
    assert bool(steering_files(ChangeSet((change,)))) == steered


@pytest.fixture
def bundled(workspace: Workspace, tmp_path: Path) -> Path:
    """A bundle of one attempt."""
    collected = _collect(
        workspace,
        tmp_path,
        COMMAND,
        **{f"{FOLDER}/report.md": "report", f"{FOLDER}/evidence/e": "e"},
    )
    (workspace.work / FOLDER / "passwd").symlink_to("/etc/passwd")
    (workspace.work / FOLDER / "etc").symlink_to("/etc")
    folder = bundle_folder(tmp_path / "kept", TASK, 1)
    papers = Papers(
        b'{"task": 1}',
        b'{"verdict": 1}',
        b'{"submit": 1}',
        "did it\n",
        {"more.txt": b"more"},
    )
    write_bundle(folder, collected, workspace.work, papers)
    assert read_facts(folder) == collected.facts
    assert read_tree(folder, "tree-after.json") == collected.after
    with pytest.raises(WorkspaceError, match="written once"):
        write_bundle(folder, collected, workspace.work, papers)
    return folder


def test_a_bundle_holds_everything(bundled: Path) -> None:
    """Every file is in the manifest; links of the agent were not followed."""
    listed = json.loads((bundled / "manifest.json").read_text("utf-8"))["files"]
    assert set(listed) == {
        "task.json", "verdict.json", "submit.json", "facts.json", "tree-before.json", "tree-after.json",
        "patch.diff", "gateway.log", "more.txt", "runs/01.log", "agent/report.md", "agent/evidence/e",
    }  # fmt: skip
    assert b"APP = 2" in (bundled / "patch.diff").read_bytes()
    assert broken_files(bundled) == ()


def test_a_changed_bundle_is_found_out(bundled: Path) -> None:
    """Changed, missing, additional: each by name."""
    (bundled / "verdict.json").write_text("{}", "utf-8")
    (bundled / "gateway.log").unlink()
    (bundled / "planted").write_text("x", "utf-8")
    assert broken_files(bundled) == (
        "gateway.log: missing",
        "planted: not in the manifest",
        "verdict.json: changed",
    )


@pytest.mark.parametrize(
    "kind",
    ["a link to a file", "a link to a folder", "a fifo", "a link for the manifest"],
)
def test_what_is_neither_file_nor_folder_breaks_a_bundle(
    bundled: Path, kind: str
) -> None:
    """It is named, and neither followed nor waited for."""
    if kind == "a fifo":
        os.mkfifo(bundled / "agent/planted")
    elif kind == "a link for the manifest":
        (bundled / "manifest.json").rename(bundled.parent / "manifest.json")
        (bundled / "manifest.json").symlink_to(bundled.parent / "manifest.json")
    else:
        (bundled / "agent/planted").symlink_to(
            bundled / ("agent" if "folder" in kind else "task.json")
        )
    name = "manifest.json" if "manifest" in kind else "agent/planted"
    with pytest.raises(
        BundleBroken, match=f"holds {name}, which is neither a file nor a folder"
    ):
        broken_files(bundled)


@pytest.mark.parametrize(
    "content",
    [
        None,
        "no json",
        "[]",
        '{"schema_version": "accordance.bundle.v1"}',
        '{"schema_version": "v9", "files": {}}',
    ],
)
def test_what_is_no_bundle(tmp_path: Path, content: str | None) -> None:
    """One clear error."""
    if content is not None:
        (tmp_path / bundle.MANIFEST).write_text(content, "utf-8")
    for broken in (
        lambda: broken_files(tmp_path),
        lambda: read_facts(tmp_path),
        lambda: read_tree(tmp_path, "tree-after.json"),
    ):
        with pytest.raises(BundleBroken):
            broken()


def test_a_signature_holds_and_breaks(bundled: Path, tmp_path: Path) -> None:
    """It is about this manifest, by this key, and about nothing else."""
    new_key(tmp_path / "key", tmp_path / "key.pub")
    new_key(tmp_path / "other", tmp_path / "other.pub")
    with pytest.raises(BundleBroken, match="is not signed"):
        verify_bundle(bundled, tmp_path / "key.pub")
    place = sign_bundle(bundled, tmp_path / "key", {"task_id": TASK, "verdict": "DONE"})
    assert verify_bundle(bundled, tmp_path / "key.pub") == {
        "task_id": TASK,
        "verdict": "DONE",
    }
    with_tree = {"task_id": TASK, "verdict": "DONE", "tree": "a" * 40}
    sign_bundle(bundled, tmp_path / "key", with_tree)
    assert verify_bundle(bundled, tmp_path / "key.pub") == with_tree
    assert broken_files(bundled) == ()
    with pytest.raises(BundleBroken, match="was not made with this key"):
        verify_bundle(bundled, tmp_path / "other.pub")
    (bundled / "manifest.json").write_text("{}", "utf-8")
    with pytest.raises(BundleBroken, match="not what was signed"):
        verify_bundle(bundled, tmp_path / "key.pub")
    envelope = json.loads(place.read_text("utf-8"))
    place.write_text(
        json.dumps(envelope | {"payload": envelope["payload"][::-1]}), "utf-8"
    )
    with pytest.raises(BundleBroken):
        verify_bundle(bundled, tmp_path / "key.pub")
    place.write_text("no json", "utf-8")
    with pytest.raises(BundleBroken, match="cannot be read"):
        verify_bundle(bundled, tmp_path / "key.pub")
    (bundled / "manifest.json").unlink()
    with pytest.raises(BundleBroken, match="not an evidence bundle"):
        sign_bundle(bundled, tmp_path / "key", {})


def test_a_signature_about_something_else(
    bundled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A good signature over another kind of statement proves nothing here."""
    new_key(tmp_path / "key", tmp_path / "key.pub")
    with monkeypatch.context() as changed:
        changed.setattr(attestation, "PREDICATE_TYPE", "urn:something:else")
        sign_bundle(bundled, tmp_path / "key", {"task_id": TASK})
    with pytest.raises(BundleBroken, match="attests something else"):
        verify_bundle(bundled, tmp_path / "key.pub")


def test_keys_that_are_none(bundled: Path, tmp_path: Path) -> None:
    """A missing key, a text that is no key."""
    (tmp_path / "text").write_text("no key", "utf-8")
    for key in (tmp_path / "text", tmp_path / "nothing"):
        with pytest.raises(WorkspaceError, match="no readable private key"):
            sign_bundle(bundled, key, {})
        with pytest.raises(WorkspaceError, match="no readable public key"):
            verify_bundle(bundled, key)


def test_without_the_extra_signing_says_what_to_install(
    bundled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line with the way out."""
    for module in ("securesystemslib.signer", "in_toto_attestation.v1.statement"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    for act in (
        lambda: sign_bundle(bundled, tmp_path / "k", {}),
        lambda: verify_bundle(bundled, tmp_path / "k"),
        lambda: attestation._statement(bundled, {}),
    ):
        with pytest.raises(WorkspaceError, match=r"accordance\[attest\]"):
            act()


def test_the_patch_of_a_bundle_is_ours(workspace: Workspace, tmp_path: Path) -> None:
    """Whatever the agent hands in."""
    collected = _collect(workspace, tmp_path, **{f"{FOLDER}/patch.diff": "made up"})
    assert collected.patch == readable_patch(workspace, collected.facts.changes)
    assert collected.facts.evidence.patch is not None
    assert not collected.facts.evidence.patch.parseable
    assert os.fspath(tmp_path) not in collected.patch.text.decode()
