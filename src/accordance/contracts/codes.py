"""Every code a check can give, with its page.

Codes are stable: they are never renamed and never change their meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from accordance.errors import UnknownCode


@dataclass(frozen=True, slots=True)
class CodePage:
    """What a code means and what to do about it."""

    code: str
    kind: Literal["text", "version", "field", "rule", "warning"]
    title: str
    why: str
    way_out: str


def _pages(
    kind: Literal["text", "version", "field", "rule", "warning"],
    *rows: tuple[str, str, str, str],
) -> tuple[CodePage, ...]:
    return tuple(
        CodePage(code, kind, title, why, way_out) for code, title, why, way_out in rows
    )


PAGES: Final = (
    *_pages(
        "text",
        ("text_around", "Text around the object", "The message is more than one JSON object: prose, a code fence or a mark stands before or after it. What surrounds an object could change its meaning, so nothing is cut away in silence.", "Send the object alone. Put explanations into fields of the message. To recover such texts on purpose, use the tolerant reader."),
        ("not_object", "Not an object", "The text is JSON, but a list, a text, a number or null instead of one object.", "Send one object: { ... }."),
        ("second_value", "A second value", "After the object another value begins. Two readers could pick different values, so neither is taken.", "Send exactly one object per message."),
        ("not_json", "Not JSON", "The text breaks the grammar of JSON at the given offset: a trailing comma, a comment, single quotes, NaN, a raw line break in a text.", "Follow RFC 8259. Most models do once they are shown the schema."),
        ("cut_short", "Cut short", "The text ends before the object does. Usually the model ran into its token limit.", "Raise the limit or ask for a shorter message. A cut message is never completed by guessing."),
        ("duplicate_key", "Duplicate key", "An object has the same key twice. Readers disagree on which value counts, so the same review could be read as approved or as refused.", "Write every key once."),
        ("not_finite", "Not finite", "A number is too large, or is NaN or infinite.", "Write a number that fits."),
        ("number_too_long", "Number too long", "An integer has more than 4,300 digits.", "Write it as a text if it is an identifier."),
        ("lone_surrogate", "Half a character", "A \\u escape gives one half of a surrogate pair. It cannot be stored as UTF-8.", "Write the whole character, or both halves."),
        ("no_message", "No message", "The run of an executor ended without a message: it crashed, was refused, ran out of time or could not even begin. The fail code says which.", "See what the run left behind: accordance task show TASK."),
        ("byte_order_mark", "Byte order mark", "The text begins with a byte order mark, which is not part of JSON.", "Write UTF-8 without it."),
        ("not_utf8", "Not UTF-8", "The bytes are not UTF-8 at the given offset: a binary file, or another encoding.", "Write UTF-8."),
        ("too_large", "Too large", "The message is over the size limit of 16 MiB.", "Send large content as a file and name its path."),
        ("too_deep", "Too deep", "Values are nested deeper than 64 levels.", "Flatten the message."),
    ),
    *_pages(
        "version",
        ("version_missing", "No schema_version", "The message does not say which contract it follows. The reader never supplies a version.", "Add schema_version with the contract's name."),
        ("version_mismatch", "Wrong schema_version", "The message does not name the contract that was asked for. The version must match exactly.", "Write exactly the version that was asked for, or check against the version that was sent."),
        ("version_unknown", "Unknown schema_version", "No registered contract has that version.", "See accordance contract list."),
    ),
    *_pages(
        "field",
        ("missing", "Missing", "A required field is missing. It is never filled with a default.", "Add it."),
        ("wrong_type", "Wrong type", "The value has the wrong type. Texts are not read as numbers or booleans, 95.0 is not an integer, null is not absence.", "Write a value of the expected type."),
        ("not_in_enum", "Not an allowed word", "The value is not one of the words allowed here.", "Use one of them. A fix is offered only where a word is spelt differently; accordance never guesses which word is meant."),
        ("out_of_range", "Out of range", "A number lies outside its bounds.", "Choose a number within the bounds."),
        ("empty", "Empty", "A value is required, but the text is empty or blank, or the list or file is empty.", "Supply a value."),
        ("too_short", "Too short", "A text is shorter than allowed.", "Write more."),
        ("too_few", "Too few", "A list has fewer items than needed.", "Send more."),
        ("too_long", "Too long", "A text is longer than allowed.", "Shorten it."),
        ("too_many", "Too many", "A list has more items than allowed.", "Send fewer."),
        ("bad_format", "Bad format", "A text is not in the required format, such as a UUID, a time or a date.", "Use that format. Dates must exist: there is no 30 February."),
        ("unknown_key", "Unknown key", "The contract does not define this key. A closed contract refuses it. An open contract keeps it, or ignores it if its model ignores extra keys; either way it is reported.", "Remove it, or check its spelling."),
    ),
    *_pages(
        "rule",
        ("two_answers", "Two answers", "The message holds two different answers: in two wrappers, or inside and outside a wrapper. It is unclear which one counts.", "Send one answer, at the top of the message."),
        ("upgrade_failed", "Upgrade failed", "The message honours an older version of the contract, but the contract's own step to this version failed. That is a fault of the contract, not of the message.", "Fix the contract's upgrade, or send a message of this version."),
        ("wrong_task", "Wrong task", "The message is about a different task or plan than was asked about. It must never be stored for this task.", "Echo the id that was given, exactly."),
        ("branch_missing", "Branch missing", "result_type announces a branch (artifact, needs_input, error) that is not there.", "Add the branch, or choose the result_type that fits."),
        ("outside_folder", "Outside its folder", "A path leaves the folder it must lie in.", "Use a path under that folder, without ..."),
        ("unsafe_name", "Unsafe name", "A name contains a path separator or a control character, or is `..`.", "Use a plain name; the folder is chosen for you."),
        ("score_contradicts_action", "Score contradicts action", "total_score reaches the threshold if and only if the action is APPROVE.", "Correct whichever is wrong. accordance never flips a decision."),
        ("duplicate_id", "Duplicate id", "Two items of a plan have the same id.", "Give each its own id."),
        ("other_plan", "Wrong plan", "A node or an edge names a different plan.", "Use the plan's own plan_id."),
        ("dangling_reference", "Dangling reference", "Something refers to a node that is not in the plan.", "Add the node, or correct the id."),
        ("mixed_and_or", "AND and OR mixed", "Some parts of a parent are combined by AND, others by OR. AND is the default.", "Use the same word for all parts of a parent; move the others under a goal of their own."),
        ("cycle", "Cycle", "A task waits for itself, so it could never begin: the edges lead back to the same node, or a goal's part waits for what waits for that goal.", "Remove one of the edges in the cycle."),
        ("never_done", "A goal that is never done", "All parts of a goal are alternatives that are passed over for better candidates elsewhere, so the goal is stuck before anything begins.", "Give the goal a part of its own, or make it a candidate itself."),
        ("second_root", "A second root", "A node does not lie under the root, and nothing under the root waits for it. The plan could be done without it.", "Put it under the root with a DECOMPOSE edge, or send it as a plan of its own."),
        ("ambiguous_list", "A list under two names", "A plan has the same list under two names, such as edges and links, with different content. It is unclear which one counts.", "Send it once, under its own name."),
        ("phase_missing", "Phase missing", "The level demands a phase that was not executed (Full 0-5, Enhanced 0, 1, 2, 4, Light 1, 4).", "Execute it and list it, or state the level that was really done."),
        ("sentences", "Too many sentences", "content.summary has more than three sentences.", "Use one to three."),
        ("duplicate_option", "Duplicate option", "An option has two T-scores, so the selection cannot be checked against it.", "Score every option once."),
        ("selection_not_listed", "Selection not listed", "The selected option was never scored.", "Select one of the options in t_scores."),
        ("selection_score_mismatch", "Selection has a different score", "The selection gives its option a different score than t_scores does.", "Use the same score in both places."),
        ("self_handoff", "Handed to itself", "Sender and receiver are the same agent.", "Name the agent that continues the work."),
        ("probabilities_over_one", "Probabilities over one", "The options' probabilities sum to more than 1. A T-score says how typical an option is and need not sum to anything; a probability must.", "Give probabilities that sum to at most 1, or leave them out."),
        ("unknown_agent", "Unknown agent", "No research agent has that name.", "See accordance research agents, or register it in your own file."),
        ("level_mismatch", "Not the agent's level", "The answer claims a VS level other than that of its registered agent.", "Answer at the registered level."),
        ("wrong_agent", "Wrong agent", "The message does not come from the agent that was asked or that hands over.", "Use that agent's answer."),
        ("thin_critique", "Thin self-critique", "A Full answer's self-critique needs two strengths, two weaknesses, one improvement and another perspective, of which at most one may be missing.", "Write a fuller critique."),
        ("thin_provenance", "Thin provenance", "An answer must name at least one source and one step of its reasoning.", "Say where it comes from."),
        ("below_floor", "Below the T-score floor", "The selection is less typical than the agent may go on this topic, and no person has acknowledged it.", "A person acknowledges this very selection, or a more typical option is selected."),
        ("false_claim", "False claim", "The handoff claims a check that fails when it is recomputed from the sender's answer.", "Fix the answer, or claim false."),
        ("answer_missing", "No answer to hand over", "The sender's answer is missing, so its claims cannot be recomputed. A check that did not run does not pass.", "Supply the sender's answer."),
        ("requires_missing", "A required agent is missing", "An agent takes part, but an agent that it requires neither ran before nor takes part.", "Let the required agent run first, or name it in prior_agents."),
        ("unordered", "Not after its requirement", "An agent and an agent that it requires both take part, but no handoffs lead from the second to the first.", "Hand over along the requirement."),
        ("parallel_dependent", "Parallel, yet dependent", "Work is handed to two agents in parallel although one requires the other.", "Hand over to them in sequence."),
        ("phase_output_missing", "Phase without its output", "A phase that the answer's level demands has no output in the answer. `check` warns about it; when an answer is checked against its request it is an error, unless the request asks for a draft.", "Put the output in one of the places that the message lists."),
        ("below_quality", "Below the quality level", "The request asks for quality_level publication_ready, and the answer lacks something that this level demands.", "Add what is named, or ask for quality_level standard."),
        ("handoff_refused", "Handoff refused", "The sender's own check failed, so work cannot continue from its answer.", "Fix the answer and hand it on again."),
        ("bad_condition", "No usable condition", "The condition of a handoff cannot be read.", "Write a path into the sender's answer and what is expected there, e.g. {\"path\": \"$.content.confidence\", \"expect\": \">= 0.6\"}."),
        ("task_misplaced", "Misplaced task", "A scc.task.v1 task is attached to a node that cannot carry it. Only an ACTION without parts and with the tag code can.", "Add the tag, or move the task to such a node."),
        ("unknown_role", "Unknown role", "No role of that name is registered.", "Use a registered role, or register it."),
        ("unknown_executor", "Unknown executor", "No executor has that name.", "Use a configured executor."),
        ("unsafe_path", "Unsafe path", "A path or a pattern is absolute, contains .. or a backslash or a control character, or begins with ~; or an edit is about one of git's own files.", "Write it relative to the repository root."),
        ("path_twice", "Duplicate path", "Two edits change the same file, so it is unclear which one counts.", "Give each file one edit, with its whole content."),
        ("path_in_both", "Allowed and forbidden", "The same path is in allowed_paths and in forbidden_paths.", "Keep it in one of them; forbidden would win."),
        ("done_but_failed", "DONE with an exit code", "status is DONE, exit_code is not 0.", "Report FAILED, or what really happened."),
        ("needs_input_empty", "NEED_INPUT without a question", "status is NEED_INPUT, but needs_input has no question.", "Say what is missing."),
        ("out_of_scope", "Out of scope", "A declared path is not inside the task's pins.", "Undo that change, or ask for wider pins."),
        ("verdict_contradicts_checks", "Verdict contradicts its checks", "PASS or DONE was given although a check failed, or RETRY or ESCALATE although schema_valid or scope_clean is false.", "Give the verdict that follows from the checks."),
        ("next_action_contradicts", "Next action contradicts the verdict", "DONE is followed by none, RETRY by retry, ESCALATE by a step up the ladder or the dead letters, REJECT by anything but none.", "Choose the action that fits."),
        ("rubric_dimension", "Not the rubric's dimensions", "The breakdown does not score the rubric's dimensions.", "Score each dimension of the rubric once."),
        ("rubric_maximum", "Not the rubric's maximum", "A dimension states a max_score that is not the rubric's.", "Score the dimension again, out of the rubric's maximum."),
        ("rubric_sum", "Does not add up", "total_score is not the sum of the breakdown.", "Add it up again; then see whether the action still fits."),
        ("rule_broken", "A rule of the model", "A validator on the pydantic model itself refused the message; its text says what it expected.", "Do as that text says."),
        ("seed_error", "An error of the seed's validator", "Profile seed only: the text is that of the seed's own validator.", "See the strict profile for the precise fault."),
    ),
    *_pages(
        "warning",
        ("sum_differs", "Sum differs", "The scores of the breakdown do not add up to total_score.", "No action is needed; the scores of a full rubric add up."),
        ("root_not_goal", "The root is not a GOAL", "The root of a plan stands for the whole plan.", "Make it a GOAL."),
        ("mark_taken_out", "START or END taken out", "A node only marks where the plan begins or ends: it has no goal, no requirements, no parts, and its title is the word itself. It is not a task, so it is left out of the plan.", "No action is needed. If it is a task, give it a title or a goal that says what to do."),
        ("no_modal_option", "No modal option", "modal_identified is empty, so there was nothing to steer away from.", "List the obvious options."),
        ("empty_list", "Empty list", "An answer's provenance or self-critique has a list with nothing in it.", "Say something there. `research check` makes it an error where too little is left."),
        ("handoff_blocked", "Handoff blocked", "The sender's own check failed. The handoff is well-formed but must not be accepted.", "Fix the answer, then hand it on."),
        ("no_condition", "No condition", "A conditional handoff does not say when it is to be taken.", "Add a condition; without it the task waits in a plan for a person's yes."),
        ("untied_answer", "Untied answer", "The answer does not say which request it answers, so only the person who recorded it can vouch for the link.", "Echo the request's task_id."),
        ("narrow_distribution", "Narrow distribution", "All options, or the selection, are highly typical: a sign of collapse within one answer.", "No action is needed; sampling further from the typical helps."),
        ("low_typicality", "Low typicality", "The selection is creative (T below 0.3): worth a second look by a person.", "No action is needed."),
        ("floor_acknowledged", "Floor acknowledged", "The selection is below the T-score floor and a person has acknowledged it.", "No action is needed."),
        ("constraint_dropped", "Constraint dropped", "A handoff leaves out a constraint that its sender inherited. It still applies.", "Repeat it, so that the receiver sees it."),
        ("handoff_not_taken", "Handoff not taken", "The condition of a conditional handoff does not hold for the sender's answer.", "No action is needed."),
        ("files_outside_pins", "Files outside the pins", "A file the task expects to be touched is not allowed by its pins.", "Widen the pins or drop the file. Preflight makes this an error."),
        ("pins_too_broad", "Pins too broad", "A pin allows the whole repository.", "Pin what the task needs."),
        ("ci_skipped", "No tests", "The task names no test command, so nothing can be verified.", "Add a test command."),
        ("only_a_self_test", "Only a self-test", "A self-test alone verifies nothing.", "Add a real test."),
        ("needs_input_ignored", "Questions ignored", "needs_input has questions, but status is not NEED_INPUT.", "Use NEED_INPUT to ask."),
        ("tests_failed_status", "Failed tests, other status", "tests.passed is false; status should be FAILED.", "Report FAILED."),
        ("tests_failed_reason", "Failed tests, other reason", "tests.passed is false; reason_code should be CI_FAILED.", "Use CI_FAILED."),
        ("tests_without_commands", "Passed without commands", "tests.passed is true, but no command is named.", "Name what was run."),
        ("allowed_tests_not_run", "Tests not run", "Not every test of the task is among the commands.", "Run them all; the gateway will."),
        ("duplicate_paths", "Duplicate path", "A file list names a path twice.", "No action is needed; lists are read as sets."),
        ("changed_and_new", "Changed and new", "A path is in both changed_files and new_files.", "Keep it in one."),
        ("seed_warning", "A warning of the seed's validator", "Profile seed only: the text is that of the seed's own validator.", "See the strict profile."),
    ),
)  # fmt: skip

CODES: Final = {page.code: page for page in PAGES}


def explain(code: str) -> CodePage:
    """The page of a code. Raises UnknownCode, with near matches."""
    try:
        return CODES[code.strip().casefold()]
    except KeyError:
        raise UnknownCode(code, CODES) from None
