"""The words that accordance prints, each with its meaning.

`accordance explain` answers from here. Fail codes and the codes of violations have
pages of their own (`domain/fail_codes`, `contracts/codes`); every other word is here:
states, events, outcomes, reasons. A test asks for each word of the code.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from accordance.domain.escalation import ACTIONS, LEVELS, NextAction
from accordance.domain.findings import Gate
from accordance.domain.lifecycle import Event, State, Waiting
from accordance.domain.task_ruling import QuestionKind
from accordance.domain.verdict import Outcome


class VocabularyEntry(NamedTuple):
    """A word with a meaning."""

    word: str
    kind: str  # "state of a task", "outcome" ...
    meaning: str


STATES: Final[Mapping[str, str]] = MappingProxyType(
    {
        State.PENDING: "It waits for the tasks or inputs that it needs.",
        State.READY: "It can begin as soon as a worker takes it up.",
        State.IN_PROGRESS: "It is being worked on.",
        State.READY_TO_CHECK: "It has a product, which waits for its review.",
        State.TO_BE_MODIFY: "Its product was returned; the next attempt changes it.",
        State.BLOCKED: "It waits for a person; the inbox says what for.",
        State.FAILED: "Its last attempt failed.",
        State.DONE: "It is finished, and its product is approved.",
        State.ABANDONED: "It is no longer needed: it was cancelled, or an alternative won.",
        State.DEAD_LETTER: "It was given up. It is kept and can be requeued.",
    }
)
WAITING: Final[Mapping[str, str]] = MappingProxyType(
    {
        Waiting.INPUT: "It waits for documents or an answer that only a person has.",
        Waiting.EXTERNAL: "It waits for a person to decide or to help.",
        Waiting.SKILL: "It waits until a failed skill works again.",
    }
)
TASK_EVENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        Event.ENABLED: "The task has everything it needs.",
        Event.DISABLED: "The task lost something that it needs.",
        Event.CLAIMED: "An attempt began.",
        Event.RELEASED: "The task was handed back, which does not count as a failure.",
        Event.LEASE_LOST: "The worker that had the task did not report in time.",
        Event.IDLED: "The executor reports that there is nothing to do.",
        Event.PRODUCED: "The attempt delivered a product.",
        Event.ASKED: "The attempt needs documents.",
        Event.STALLED: "The attempt cannot go on without help from outside.",
        Event.ERRED: "The attempt failed.",
        Event.UNPARSEABLE: "A message or a review broke its contract.",
        Event.ASKED_AGAIN: "The executor was asked again within the same run.",
        Event.REVIEWER_ASKED_AGAIN: "The reviewer was asked again within the same run.",
        Event.APPROVED: "The review, or the judge, accepted the product.",
        Event.RETURNED: "The review asks for changes.",
        Event.REFERRED: "The review needs something from outside.",
        Event.MISREVIEWED: "The reviewer's run ended without a review.",
        Event.RECHECKED: "The product gets another review.",
        Event.ANSWERED: "A person answered, or the input arrived.",
        Event.RETRIED: "The task gets another attempt.",
        Event.GRANTED: "A person gave the task another chance; its limits start over.",
        Event.VOUCHED: "A person approved the product as it is.",
        Event.ESCALATED: "A person decides: another attempt would not help.",
        Event.BURIED: "The task was given up and is a dead letter now.",
        Event.REQUEUED: "A person took the task back from the dead letters.",
        Event.COMPLETED: "The parts of the goal are done.",
        Event.DROPPED: "The task is no longer needed.",
        Event.CHOSEN: "The task's alternative became active again.",
    }
)
PLAN_STATES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "IN_REVIEW": "The plan waits for its review before anything begins.",
        "RETURNED": "The review asks for a better plan.",
        "HELD": "The plan waits for a person: a question, or a blown fuse.",
        "ACTIVE": "The plan may run.",
        "PAUSED": "Nothing new begins; running attempts finish.",
        "FINISHED": "The root of the plan is done.",
        "CANCELLED": "A person ended the plan; what was not done is abandoned.",
        "ARCHIVED": "The plan is hidden from lists and read-only.",
    }
)
PLAN_EVENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "PLAN_IMPORTED": "A plan, or a new revision of it, was imported.",
        "PLAN_APPROVED": "The review approved the plan.",
        "PLAN_REVIEW_WAIVED": "A person let the plan begin without a review.",
        "PLAN_RETURNED": "The review asks for a better plan.",
        "PLAN_REFERRED": "The review of the plan needs a person.",
        "PLAN_FUSE_BLOWN": "A fuse blew: the plan is held until a person resumes it.",
        "PLAN_ANSWERED": "A person answered; the plan is reviewed again.",
        "PLAN_RESUMED": "A person resumed the plan; its fuses count from zero.",
        "PLAN_AMENDED": "A person changed the tasks of the plan.",
        "PLAN_REBASED": "The plan's changes were put on top of its moved base.",
        "PLAN_PAUSED": "A person paused the plan.",
        "PLAN_CANCELLED": "A person cancelled the plan.",
        "PLAN_ARCHIVED": "A person archived the plan.",
        "PLAN_UNARCHIVED": "A person took the plan back from the archive.",
        "PLAN_DELETED": "A person deleted the plan; only this record is left.",
    }
)
RECORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ASKED_A_PERSON": "A question was added to the inbox.",
        "CANCELLED": "A person cancelled the task.",
        Event.OVERTAKEN: "The plan moved on; a good change has to land on its new head.",
        "CAUSE_GONE": "The outside cause that blocked the task is gone.",
        "EVIDENCE_ADDED": "An input that a task needs was supplied.",
        "EVIDENCE_KEPT": "The evidence of a judged change was kept with the ledger.",
        "EVIDENCE_STALE": "An input has changed or is gone since it was supplied.",
        "INPUTS_CHANGED": "The number of inputs that a task lacks has changed.",
        "JUDGED": "A change was judged; its evidence is kept in a bundle.",
        "KEY_MADE": "An admin made a key for the server.",
        "KEY_REVOKED": "A key for the server was revoked.",
        "LEFT_ALONE": "An attempt waits for a worker of the version that began it.",
        "LENT": "A clone of the repository was lent to an outside worker.",
        "MESSAGE": "A message or a review arrived and was checked.",
        "MESSAGE_REFUSED": "A message came too late or for something else; it is kept.",
        "PLAN_BEGAN": "The chain of a plan's events began.",
        "PLAN_WRITTEN": "A planner handed in a plan.",
        "PROMPTED": "An executor got its prompt.",
        "QUESTION_ANSWERED": "A person answered a question.",
        "RAN": "A run of an executor ended.",
        "REPORTED": "A worker reported its progress.",
        "RESERVED": "An attempt reserved a part of its plan's budget.",
        "REVIEW_CAUSE_GONE": "The outside cause that blocked the review is gone.",
        "ROWS_TAKEN_OVER": "A migration sealed the rows that it took over.",
        "ROWS_WRITTEN": "Rows that were written were sealed.",
        "SAID": "A model answered within a run.",
        "UNRESERVED": "A review ended and freed its part of the plan's budget.",
        "VERDICT": "An attempt or a review was judged.",
        "WEBHOOK_MADE": "An admin added a webhook.",
        "WEBHOOK_REMOVED": "An admin removed a webhook.",
    }
)
OUTCOMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        Outcome.DONE: "Accepted: nothing is left to do.",
        Outcome.RETRY: "Not accepted; the next attempt learns what was wrong.",
        Outcome.ESCALATE: "Not accepted; a stronger model, another role or a person takes over.",
        Outcome.REJECT: "Not accepted: it breaks a rule that another attempt cannot mend.",
    }
)
NEXT_ACTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        NextAction.NONE: "Nothing follows.",
        **{action: LEVELS[level] for level, action in ACTIONS.items()},
    }
)
NODE_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "GOAL": "A task with parts; it is done when they are.",
        "ACTION": "A task that an executor or a person does.",
        "CHECK": "A task that reviews the product of another task.",
    }
)
GATES: Final[Mapping[str, str]] = MappingProxyType(
    {
        Gate.SCHEMA: "Does the submission honour its contract?",
        Gate.CONSTITUTION: "Was a rule broken that no task may lift?",
        Gate.POLICY: "Was anything used that is not permitted?",
        Gate.SCOPE: "Was anything touched outside the pins?",
        Gate.ENVIRONMENT: "Could the tests be run at all?",
        Gate.BUDGET: "Did it stay within its budget?",
        Gate.NEED_INPUT: "Does the agent ask for something?",
        Gate.EVIDENCE: "Are the artifacts there, and are they true?",
        Gate.FILE_MATCH: "Does the declared change match the real change?",
        Gate.TESTS: "Did every test pass in accordance's own run?",
        Gate.STATUS: "Does the agent itself say that it is done?",
    }
)
QUESTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        QuestionKind.DOCUMENTS: "An attempt needs files.",
        QuestionKind.HELP: "An attempt or a review needs something from outside.",
        QuestionKind.DECISION: "Attempts or rounds are used up: go on, or give up?",
        QuestionKind.CONFIRMATION: "The plan asks a person to confirm something.",
        QuestionKind.BINDING: "Which requirement is a file meant for?",
        QuestionKind.GOAL: "A goal cannot finish because one of its parts was given up.",
        "APPROVAL": "The plan waits for its review.",
        QuestionKind.PLAN: "The plan's review needs a person, or its fuse has blown.",
    }
)
REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ANSWER": "A research agent delivered its answer.",
        "APPROVE": "The review approved the product.",
        "ARTIFACT": "The executor delivered a product.",
        "BEHIND": "The plan moved on: the change is applied to it and judged again.",
        "BELOW_FLOOR": "The answer's selection is below its T-score floor.",
        "INPUT_CONFLICT": "The inputs contradict each other: a person decides.",
        "INPUT_MISSING": "Something is missing that only a person can supply.",
        "LEASE_LOST": "The worker that had the task did not report in time.",
        "LLM_REFUSAL": "The model refused to do it.",
        "LLM_UNPARSEABLE": "The message broke its contract; every violation is listed.",
        "MAX_CALLS_PER_TASK_EXCEEDED": (
            "The task has had all the messages that the fuse calls_per_task allows."
        ),
        "MAX_REVIEW_ROUNDS_EXCEEDED": (
            "The review returned the product as often as review_rounds allows."
        ),
        "MODIFY": "The review asks for changes.",
        "NEEDS_INPUT": "The executor asks for documents.",
        "NOOP": "The executor reports that there is nothing to do.",
        "NOOP_LOOP": "The executor reports repeatedly that there is nothing to do.",
        "PASSED": "Every gate passed.",
        "REPEATED_ERROR": (
            "The same error came as often in a row as same_error allows, so the same"
            " approach is not tried again."
        ),
        "REQUEST_EXTERNAL_INPUT": "The review needs something from outside.",
        "REVIEWER_BAD_OUTPUT": (
            "A review broke its contract; newer ledgers call it LLM_UNPARSEABLE."
        ),
        "SKILL_BAD_INPUT": "A skill cannot use its input.",
        "SKILL_FAILED": "A skill failed.",
        "SKILL_TIMEOUT": "A skill took too long.",
    }
)
RESTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "NO_PLAN": "There is no plan.",
        "IN_REVIEW": "The plan waits for its review.",
        "RETURNED": "The plan was returned; a better plan has to be imported.",
        "HELD": "The plan is held and waits for a person.",
        "FINISHED": "The plan is finished.",
        "BUSY": "Everything that can begin is being worked on.",
        "WAITING": "What is left waits for a person or an input.",
        "STUCK": "What is left waits for something that was given up or cancelled.",
        "ELSEWHERE": "What is left waits for an outside worker to ask for it.",
        "OWN_WORK": "What is left would be a review of your own work.",
        "CHANGING": "The plan already makes as many changes at once as parallel_changes allows.",
        "OTHERS": "There is work, but none of the kind that was asked for.",
        "PAUSED": "The plan is paused.",
        "CANCELLED": "The plan was cancelled.",
        "ARCHIVED": "The plan is archived.",
        "STOPPED": "The run was stopped.",
    }
)
ANSWERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "accepted": "The message meets its contract and counts for its task.",
        "rejected": "The message breaks its contract; every violation is listed.",
        "refused": "The message came too late, or is not about this attempt.",
        "handed_back": "The attempt was stopped; its task can be taken up again.",
    }
)
VOCABULARY: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "state of a task": STATES,
        "reason to wait": WAITING,
        "state of a plan": PLAN_STATES,
        "outcome": OUTCOMES,
        "next action": NEXT_ACTIONS,
        "reason": REASONS,
        "event": MappingProxyType({**TASK_EVENTS, **PLAN_EVENTS, **RECORDS}),
        "type of node": NODE_TYPES,
        "gate": GATES,
        "kind of question": QUESTIONS,
        "why a run ends": RESTS,
        "answer to a message": ANSWERS,
    }
)
"""Every table of words, by what its words are."""

WORDS: Final[tuple[VocabularyEntry, ...]] = tuple(
    VocabularyEntry(str(word), kind, meaning)
    for kind, table in VOCABULARY.items()
    for word, meaning in table.items()
)


def meanings_of(name: str) -> tuple[VocabularyEntry, ...]:
    """Return every meaning of a word, in any letter case; exact spellings first."""
    folded = name.strip().casefold()
    matches = [word for word in WORDS if word.word.casefold() == folded]
    return tuple(sorted(matches, key=lambda word: word.word != name.strip()))
