"""A change that was only said: a model's edits, laid into the clone, and its claim, for which accordance hands in."""

from __future__ import annotations

from dataclasses import dataclass, replace

from accordance.api import check
from accordance.contracts.catalogue.edits import EDITS, FileEdits
from accordance.contracts.context import Context
from accordance.contracts.violation import Accepted
from accordance.domain.case import Breach
from accordance.judging.judge import JudgeOptions
from accordance.judging.own_submission import Claim
from accordance.workspace.editing import Draft, Refusal


@dataclass(frozen=True, slots=True)
class Spoken:
    """Edits that could be read: what their author claims, and which of them could not be made."""

    claim: Claim
    refused: tuple[Refusal, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether its author has nothing to add: it asks a person, or says itself that it has failed."""
        return self.claim.status != "DONE"

    def judged(self, how: JudgeOptions) -> JudgeOptions:
        """How it is judged: by its claim; an edit that would have led out of the clone is a breach of scope."""
        led_out = (
            Breach("SCOPE_CONFLICT", str(one)) for one in self.refused if one.leaves
        )
        return replace(how, claim=self.claim, breaches=(*how.breaches, *led_out))


def lay_edits(raw: bytes, context: Context, draft: Draft) -> Spoken | None:
    """Lay what was said into the clone, in the place of what was said before. None, and nothing laid, if it cannot be read."""
    draft.take_out()
    said = check(raw, EDITS, context)
    if not isinstance(said, Accepted):
        return None
    refused = draft.lay(said.value.edits)
    return Spoken(_claim(said.value, refused), refused)


def _claim(said: FileEdits, refused: tuple[Refusal, ...]) -> Claim:
    return Claim(
        status=said.status,
        summary=said.summary,
        reason_code=said.reason_code,
        needs_input=tuple(said.needs_input),
        not_made=tuple(edit.path for edit in said.edits) if refused else (),
    )
