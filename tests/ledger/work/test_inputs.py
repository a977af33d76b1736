"""Inputs, confirmations and other tasks' products: what a task waits for from outside."""

from __future__ import annotations

import os
import socket

import pytest

from accordance.domain.records import EvidenceRecord, RequirementRecord
from accordance.domain.ruling import QuestionKind
from accordance.errors import Conflict, IllegalTransition, NotFound
from accordance.executors.agents.sockets import within
from accordance.work.inbox import answer
from accordance.work.input_files import look_at_inputs
from accordance.work.person_answers import PersonAnswer, UnfitAnswer, Upload
from accordance.work.taking import NoTaskReason
from tests.ledger.project import Project, asking, product
from tests.messages import PLAN, Message, edge, node, plan, requirement, small_plan


def needing(*requirements: Message) -> Message:
    """Two actions in a row; the first one needs something."""
    return {**small_plan(), "requirements": list(requirements)}


def live(project: Project) -> list[tuple[str, str]]:
    with project.ledger.read() as tx:
        found = tx.find(EvidenceRecord, plan_id=PLAN, stale_at=None)
    return [(one.requirement_id, one.reference) for one in found]


# -- what a plan requires


def test_a_file_is_bound(project: Project) -> None:
    """By its folder or keywords, of an allowed type only; then the task can begin."""
    project.runs(needing(requirement("a")))
    assert project.take() is NoTaskReason.WAITING
    project.put("sheet/notes.md")
    project.put("elsewhere/prices.xlsx")
    assert project.take() is NoTaskReason.WAITING
    project.put("sheet/prices.xlsx")
    assert project.takes() == "a"
    assert live(project) == [("r1", "sheet/prices.xlsx")]


def test_what_is_no_file_is_no_input(project: Project) -> None:
    """A pipe would be waited for, for ever; a socket, a folder and a link to nowhere are nothing either."""
    project.runs(needing(requirement("a")))
    folder = project.put("sheet/notes.md").parent
    os.mkfifo(folder / "prices.xlsx")
    (folder / "nowhere.xlsx").symlink_to("none")
    with socket.socket(socket.AF_UNIX) as end, within(folder) as place:
        end.bind(f"{place}/socket.xlsx")
    assert project.take() is NoTaskReason.WAITING
    assert [one.path for one in look_at_inputs(project.ledger, project.home)] == [
        "sheet/notes.md"
    ]


def test_evidence_goes_stale(project: Project) -> None:
    """D17: a file that changes or goes is no evidence any more; work that has begun is left alone."""
    project.runs(needing(requirement("a")))
    file = project.put("sheet/prices.xlsx")
    project.takes(kinds=("CHECK",))
    assert project.state("a") == "READY"
    file.unlink()
    assert project.take() is NoTaskReason.WAITING
    assert (project.state("a"), live(project)) == ("PENDING", [])
    project.put("sheet/prices.xlsx", "back")
    assert project.takes() == "a"
    project.put("sheet/prices.xlsx", "changed once more")
    assert project.take() is NoTaskReason.BUSY
    assert project.state("a") == "IN_PROGRESS"
    assert project.kinds().count("EVIDENCE_STALE") == 2
    assert live(project) == [("r1", "sheet/prices.xlsx")]


def test_a_file_that_is_back_as_it_was(project: Project) -> None:
    """Is evidence again."""
    project.runs(needing(requirement("a")))
    file = project.put("sheet/prices.xlsx", "one")
    project.takes(kinds=("CHECK",))
    file.unlink()
    project.takes(kinds=("CHECK",))
    project.put("sheet/prices.xlsx", "one")
    assert project.takes() == "a"


def test_so_many_files(project: Project) -> None:
    """A task waits until min_count is reached, and no longer."""
    project.runs(needing(requirement("a", min_count=2)))
    assert project.take() is NoTaskReason.WAITING
    project.put("sheet/first.xlsx", "1")
    assert project.take() is NoTaskReason.WAITING
    project.put("sheet/second.xlsx", "2")
    assert project.takes() == "a"


def test_what_is_not_required_keeps_nobody_waiting(project: Project) -> None:
    """Two requirements of the same name: a person says which a file is for."""
    project.runs(
        needing(
            requirement("a"),
            requirement("a", requirement_id="r2", required=False),
        )
    )
    project.put("sheet/prices.xlsx", "1")
    assert project.take() is NoTaskReason.WAITING
    (question,) = project.questions(QuestionKind.BINDING)
    chosen = PersonAnswer(by="me", choose="r1")
    answer(project.ledger, project.home, question.question_id, chosen)
    assert project.takes() == "a"


def test_a_tie_asks_a_person(project: Project) -> None:
    """Once, not every round; the answer binds it; an answer that is none of the choices is refused."""
    twins = [requirement("a", requirement_id=f"r{at}", name=f"n{at}", validation={"filename_keywords": ["price", "2026"]}) for at in (1, 2)]  # fmt: skip
    project.runs(needing(*twins))
    project.put("price_2026.xlsx")
    for _ in range(3):
        assert project.take() is NoTaskReason.WAITING
    (question,) = project.questions()
    assert (question.kind, question.details["options"]) == (
        QuestionKind.BINDING,
        ["r1", "r2"],
    )
    for wrong in ({"choose": "r3"}, {"text": "the first"}):
        with pytest.raises(UnfitAnswer, match="choose one of"):
            project.answer(**wrong)
    project.answer(choose="r2")
    assert project.take() is NoTaskReason.WAITING
    assert live(project) == [("r2", "price_2026.xlsx")]
    project.put("n1/other.xlsx")
    assert project.takes() == "a"


def test_a_confirmation(project: Project) -> None:
    """Only a person's yes lets the task begin."""
    project.runs(needing(requirement("a", kind="CONFIRMATION", name="budget")))
    assert project.take() is NoTaskReason.WAITING
    (question,) = project.questions()
    assert (question.kind, question.text) == (
        QuestionKind.CONFIRMATION,
        'Task a: please confirm "budget"',
    )
    with pytest.raises(UnfitAnswer, match="confirm or decline"):
        project.answer(text="maybe")
    project.answer(yes=True)
    assert project.takes() == "a"
    with pytest.raises(Conflict, match=r"was answered by test on .*: yes"):
        answer(
            project.ledger,
            project.home,
            question.question_id,
            PersonAnswer(by="me", yes=False),
        )
    with pytest.raises(NotFound, match="no question"):
        answer(
            project.ledger,
            project.home,
            "q-0000000000",
            PersonAnswer(by="me", yes=True),
        )


def test_a_confirmation_that_is_denied(project: Project) -> None:
    """The task is given up, and its goal says so."""
    project.runs(needing(requirement("a", kind="CONFIRMATION", name="budget")))
    project.answer(yes=False)
    assert project.states() == {"root": "BLOCKED", "a": "DEAD_LETTER", "b": "PENDING"}
    assert [one.kind for one in project.questions()] == [QuestionKind.GOAL]
    with pytest.raises(UnfitAnswer, match="requeued or dropped"):
        project.answer(text="so what")


def test_a_confirmation_for_an_alternative_that_waits(project: Project) -> None:
    """A no counts only when the alternative is chosen; a yes counts at once."""
    nodes = [node("root", "GOAL"), node("one", priority=2), node("two")]
    edges = [edge("root", task) for task in ("one", "two")]
    edges += [
        edge("root", task, "ALTERNATIVE", group_id="g") for task in ("one", "two")
    ]
    confirm = requirement("two", kind="CONFIRMATION", name="ok")
    project.runs(plan(nodes, edges, requirements=[confirm]))
    with pytest.raises(Conflict, match="not in use now"):
        project.answer(yes=False)
    project.answer(yes=True)
    assert project.state("two") == "ABANDONED"
    assert project.task("two").progress.missing_inputs == 0


@pytest.mark.parametrize(
    ("needs", "name", "binds"),
    [
        pytest.param("report", "report", True, id="the product's name"),
        pytest.param(
            "REPORT", "report.md", True, id="with its suffix, in any letter case"
        ),
        pytest.param("Task a", "other", True, id="the task's title"),
        pytest.param("else", "report", False, id="another name"),
    ],
)
def test_another_tasks_product(
    project: Project, needs: str, name: str, binds: bool
) -> None:
    """SKILL_OUTPUT is answered by an approved product of that name."""
    message = plan(
        [node("root", "GOAL"), node("a"), node("b")],
        [edge("root", "a"), edge("root", "b")],
    )
    need = requirement("b", kind="SKILL_OUTPUT", name=needs, allowed_types=["md"])
    project.runs({**message, "requirements": [need]})
    project.submit("a", product("a", name=name))
    assert project.state("b") == "PENDING"
    project.review("a")
    assert project.state("b") == ("READY" if binds else "PENDING")


def test_a_product_of_another_type(project: Project) -> None:
    """Answers nothing; nor does a product its own task."""
    message = plan(
        [node("root", "GOAL"), node("a"), node("b")],
        [edge("root", "a"), edge("root", "b")],
    )
    needs = [requirement(task, kind="SKILL_OUTPUT", name="report", requirement_id=task, required=task == "b") for task in "ab"]  # fmt: skip
    project.runs({**message, "requirements": needs})
    project.finish("a")
    assert (project.state("b"), live(project)) == ("PENDING", [])


# -- what an attempt asks for


def test_documents(project: Project) -> None:
    """NEEDS_INPUT: the task waits with a list; the file comes, is bound, and the task goes on by itself."""
    project.runs(small_plan())
    told = project.submit("a", asking("a", "sheet", "xlsx")).content
    assert (told["state"], told["waiting"], told["outcome"]) == (
        "BLOCKED",
        "WAITING_INPUT",
        "ESCALATE",
    )
    (question,) = project.questions()
    assert (question.kind, question.question_id) == (
        QuestionKind.DOCUMENTS,
        told["question"],
    )
    project.put("sheet/prices.md")
    assert project.take() is NoTaskReason.WAITING
    project.put("sheet/prices.xlsx")
    assert project.takes() == "a"
    assert project.questions() == []
    assert project.task("a").progress.standing.used.failures == 0


def test_documents_that_lie_there_already(project: Project) -> None:
    """Are found without anybody's help."""
    project.runs(small_plan())
    project.put("sheet/prices.xlsx")
    project.takes()
    project.submit("a", asking("a", "sheet", "xlsx"))
    assert project.takes() == "a"


def test_the_same_document_again(project: Project) -> None:
    """Asked for again, the file that did not help is not taken for the answer; a new one is."""
    project.runs(small_plan())
    project.put("sheet/prices.xlsx", "old")
    for attempt in (1, 2):
        assert project.takes() == "a"
        project.submit("a", asking("a", "sheet", "xlsx"), attempt=attempt)
    assert project.take() is NoTaskReason.WAITING
    assert {one.kind for one in project.questions()} == {
        QuestionKind.DOCUMENTS,
        QuestionKind.BINDING,
    }
    project.put("sheet/prices.xlsx", "new")
    assert project.takes() == "a"


@pytest.mark.parametrize(
    ("asked", "file", "lies_at"),
    [
        pytest.param("workspace/inputs/sheet/", "prices.xlsx", "sheet/prices.xlsx", id="a folder"),
        pytest.param("workspace/inputs/sheet/final.xlsx", "prices.xlsx", "sheet/final.xlsx", id="a file"),
        pytest.param("workspace/inputs/sheet/final.pdf", "prices.xlsx", "sheet/prices.xlsx", id="a file of another type"),
        pytest.param("workspace/inputs/final.xlsx", "prices.xlsx", "final.xlsx", id="without a folder"),
        pytest.param("workspace/inputs/", "prices.xlsx", "sheet/prices.xlsx", id="no place at all"),
        pytest.param("./workspace/inputs/sheet/", "prices.xlsx", "sheet/prices.xlsx", id="another spelling"),
    ],
)  # fmt: skip
def test_a_file_as_an_answer(
    project: Project, asked: str, file: str, lies_at: str
) -> None:
    """It is put where it was asked to be, and the rule for all inputs binds it."""
    project.runs(small_plan())
    project.submit("a", asking("a", "sheet", "xlsx", "pdf", path=asked))
    project.answer(files=(Upload(file, b"content"),))
    assert (project.home.inputs / lies_at).read_text() == "content"
    assert [path for _, path in live(project)] == [lies_at]
    assert project.takes() == "a"


def test_files_that_do_not_fit(project: Project) -> None:
    """Nothing is copied, nothing is answered."""
    project.runs(small_plan())
    project.submit("a", asking("a", "sheet", "xlsx"))
    with pytest.raises(
        UnfitAnswer, match=r"prices.md is none of the wanted types \(xlsx\)"
    ):
        project.answer(files=(Upload("prices.md", b"content"),))
    with pytest.raises(
        UnfitAnswer, match="the answer is empty; answer with one of: file"
    ):
        project.answer()
    with pytest.raises(UnfitAnswer, match="task a has no product to approve"):
        project.answer(approve=True)
    assert (project.state("a"), project.files()) == ("BLOCKED", [])


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../prices.xlsx", "/etc/prices.xlsx", "a/b.xlsx", "a\0.xlsx"],
)
def test_an_upload_is_named_like_a_file(name: str) -> None:
    """Whoever hands a file over does not choose the folder it lands in."""
    with pytest.raises(UnfitAnswer, match="is not a file name"):
        Upload(name, b"content")


def test_a_file_for_a_question_about_no_document(project: Project) -> None:
    """Lies beside the other inputs; the answer is told to the next attempt."""
    project.runs(small_plan())
    project.submit("a")
    project.review("a", 80, "REQUEST_EXTERNAL_INPUT")
    question = project.answer(text="see the note", files=(Upload("note.txt", b"4.20"),))
    assert question.answer == {
        "by": "test",
        "text": "see the note",
        "files": ["note.txt"],
    }
    assert (project.home.inputs / "answers" / "note.txt").read_text() == "4.20"
    assert project.takes() == "a"


def test_an_answer_without_the_document(project: Project) -> None:
    """A person may say that there is none; what was asked for then binds nothing new."""
    project.runs(small_plan())
    project.submit("a", asking("a", "sheet", "xlsx"))
    project.answer(text="there is none; use last year's")
    assert project.takes() == "a"
    project.put("sheet/late.xlsx")
    project.take()
    assert live(project) == []


def test_odd_files(project: Project) -> None:
    """Hidden ones are not looked at; names nobody can write down answer nothing; links to nowhere neither."""
    project.runs(needing(requirement("a")))
    project.put(".hidden/sheet.xlsx")
    project.put("sheet/.prices.xlsx")
    folder = project.home.inputs / "sheet"
    (folder / "gone.xlsx").symlink_to(folder / "nowhere")
    (project.home.inputs / "sheet").joinpath(
        b"\xff.xlsx".decode("utf-8", "surrogateescape")
    ).write_text("x")
    assert project.files() == []
    project.put("sheet/目录 'x'.XLSX")
    assert project.takes() == "a"


def test_a_name_with_a_nul(project: Project) -> None:
    """A document may be called anything."""
    project.runs(small_plan())
    project.submit("a", asking("a", "sh\0eet 🥖", "xlsx", path="workspace/inputs/x/"))
    project.put("x/prices.xlsx")
    assert project.takes() == "a"
    with project.ledger.read() as tx:
        (need,) = tx.find(RequirementRecord, plan_id=PLAN)
    assert need.name.replace("\u2400", "\0") == "sh\0eet 🥖"


def test_questions_about_what_is_over(project: Project) -> None:
    """A denial that comes too late is refused, and nothing changes."""
    project.runs(
        needing(requirement("b", kind="CONFIRMATION", name="ok", required=True))
    )
    project.finish("a")
    with project.ledger.write() as tx:
        tx.lock(PLAN)
        tx.inputs_missing("b", 0)
    project.finish("b")
    with pytest.raises(IllegalTransition):
        project.answer(yes=False)
    assert len(project.questions()) == 1
