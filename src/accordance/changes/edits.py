"""Changes that a model hands in as edits: applied to the clone, with the model's claim.

Accordance makes the submission for them.
"""

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
class AppliedEdits:
    """Edits that could be read: their author's claim, and those that were refused."""

    claim: Claim
    refused: tuple[Refusal, ...] = ()

    @property
    def is_final(self) -> bool:
        """Whether their author has nothing to add: it asks a person, or has failed."""
        return self.claim.status != "DONE"

    def judged_under(self, options: JudgeOptions) -> JudgeOptions:
        """Return the options by which the edits are judged.

        An edit that would have led out of the clone is a breach of scope.
        """
        breaches = [
            Breach("SCOPE_CONFLICT", str(refusal))
            for refusal in self.refused
            if refusal.leaves
        ]
        return replace(
            options,
            claim=self.claim,
            breaches=(*options.breaches, *breaches),
        )


def apply_edits(raw: bytes, context: Context, draft: Draft) -> AppliedEdits | None:
    """Apply edits to the clone, in place of those applied before.

    Returns None, and applies nothing, if they break their contract.
    """
    draft.take_out()
    result = check(raw, EDITS, context)
    if not isinstance(result, Accepted):
        return None

    message: FileEdits = result.value
    refused = draft.lay(message.edits)
    return AppliedEdits(_claim(message, refused), refused)


def _claim(message: FileEdits, refused: tuple[Refusal, ...]) -> Claim:
    not_made: tuple[str, ...] = ()
    if refused:
        not_made = tuple(edit.path for edit in message.edits)
    return Claim(
        status=message.status,
        summary=message.summary,
        reason_code=message.reason_code,
        needs_input=tuple(message.needs_input),
        not_made=not_made,
    )
