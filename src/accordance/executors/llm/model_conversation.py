"""A conversation with a model: ask, check the answer, ask again with its faults."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    UserPromptPart,
)

from accordance.api import check
from accordance.contracts.feedback import feedback
from accordance.contracts.limits import LIMITS
from accordance.contracts.stream import MessageGuard
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.executor_specs import LlmSpec
from accordance.domain.faults import Fault
from accordance.domain.spending import Spending, total
from accordance.executors.llm.asking import Asker, ModelReply
from accordance.executors.llm.faults import (
    describe_error,
    fault_of,
    never_reached_model,
    seconds_to_wait,
)
from accordance.executors.llm.models import parameters, takes_schema
from accordance.executors.pricing import Pricing, pricing, room_for_answer
from accordance.executors.protocol import (
    ASKED_AGAIN,
    MAX_REPEATED_CHARACTERS,
    MODEL_CALL,
    Assignment,
    Observation,
    RunLimits,
    RunOutcome,
)

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings


@dataclass(slots=True)
class ModelConversation:
    """A conversation with a model, and everything recorded of it."""

    spec: LlmSpec
    assignment: Assignment
    limits: RunLimits
    model: str
    key: str
    replies: list[ModelReply] = field(default_factory=list)
    seen: list[Observation] = field(default_factory=list)

    @property
    def spent(self) -> Spending:
        """The cost of all calls."""
        return total(reply.spent(self._pricing) for reply in self.replies)

    @property
    def _pricing(self) -> Pricing | None:
        return pricing(self.spec, self.model)

    async def hold(self, model: Model[Any]) -> RunOutcome:
        """Hold the conversation, and return its outcome.

        In `auto` mode, a provider that rejects the schema is asked again without it.
        """
        async with model:
            is_native = takes_schema(self.spec, model)
            produced = await self._converse(self._asker(model, is_native=is_native))

            may_be_schema = is_native and self.spec.output == "auto"
            if may_be_schema and produced.fault is Fault.REJECTED:
                self.seen.append(
                    Observation("schema_not_taken", {"why": produced.text})
                )
                produced = await self._converse(self._asker(model, is_native=False))
            return produced

    def _asker(self, model: Model[Any], *, is_native: bool) -> Asker:
        settings: ModelSettings = {"max_retries": 0}
        if self.spec.temperature is not None:
            settings["temperature"] = self.spec.temperature

        contract = self.assignment.contract
        return Asker(
            model,
            settings,
            parameters(self.spec, contract, native=is_native),
            self.limits.output_bytes,
        )

    async def _converse(self, asker: Asker) -> RunOutcome:
        prompt = self.assignment.prompt
        system = SystemPromptPart(prompt.system)
        user = UserPromptPart(prompt.user)
        messages: list[ModelMessage] = [ModelRequest(parts=[system, user])]
        sent = prompt.text
        faults = None

        for turn in range(1 + self.spec.reasks):
            reply = ModelReply(sent, faults)
            await self._ask(asker, messages, reply, turn)
            if reply.fault is not None:
                return RunOutcome(
                    fault=reply.fault,
                    text=reply.why,
                    retry_after=reply.wait,
                )

            faults = await self._faults(reply, is_last=turn == self.spec.reasks)
            if faults is None:
                return RunOutcome(raw=reply.text.encode())
            if self.spent.uses_up(self.limits.budget):
                text = f"{self.spent.tokens:,} tokens are used"
                return RunOutcome(fault=Fault.OVER_BUDGET, text=text)

            repeated = reply.text[:MAX_REPEATED_CHARACTERS]
            if repeated:
                messages.append(ModelResponse(parts=[TextPart(repeated)]))
            messages.append(ModelRequest(parts=[UserPromptPart(faults)]))
            sent += repeated + faults

        return self._last_message()

    def _last_message(self) -> RunOutcome:
        """Return the last answer as it is: the judge says what is wrong with it."""
        text = self.replies[-1].text
        if not text.strip():
            return RunOutcome(fault=Fault.SILENT, text="the model's answer is empty")
        return RunOutcome(raw=text.encode())

    # -- a single call

    async def _ask(
        self,
        asker: Asker,
        messages: list[ModelMessage],
        reply: ModelReply,
        turn: int,
    ) -> None:
        """Fill the reply: from an interrupted run that kept it, or from the model."""
        question = self._question_hash(asker, turn)
        self.replies.append(reply)

        kept = self.assignment.memory.recall(question)
        if kept is not None:
            reply.restore(kept, self._guard())
        else:
            await self._call(asker, messages, reply)
            if reply.fault is None:
                self.assignment.memory.keep(question, reply.to_json())

        self._record_call(reply, is_kept=kept is not None)

    async def _call(
        self,
        asker: Asker,
        messages: list[ModelMessage],
        reply: ModelReply,
    ) -> None:
        max_tokens = self._max_tokens
        asker = replace(asker, settings={**asker.settings, "max_tokens": max_tokens})
        try:
            await asker.ask(messages, self._guard(), reply)
        except Exception as error:  # noqa: BLE001 - any error of a client is a fault
            has_answer = bool(reply.text or reply.thinking_characters)
            reply.is_sent = has_answer or not never_reached_model(error)
            why = describe_error(error, self.key)
            reply.fail(fault_of(error), why, seconds_to_wait(error))

        is_short_of_budget = max_tokens < self.spec.max_tokens
        if reply.fault is Fault.TOO_LONG and is_short_of_budget:
            why = f"the answer does not fit into the {max_tokens:,} tokens left for it"
            reply.fail(Fault.OVER_BUDGET, why, reply.wait)

    def _question_hash(self, asker: Asker, turn: int) -> str:
        """Return the hash of the next question.

        It follows from the prompt and the model's answers so far. The feedback on them
        is left out: tests print something else each time, and mean the same.
        """
        so_far = self.replies[len(self.replies) - turn :]
        words = [
            self.model,
            asker.parameters.output_mode,
            self.assignment.prompt.text,
            *(reply.text for reply in so_far),
        ]
        return hashlib.sha256(json.dumps(words).encode()).hexdigest()

    @property
    def _max_tokens(self) -> int:
        """How many tokens the next answer may have."""
        room = room_for_answer(self.limits.budget, self.spent, self._pricing)
        if room is None:
            return self.spec.max_tokens
        return min(room, self.spec.max_tokens)

    def _guard(self) -> MessageGuard:
        limits = replace(LIMITS, max_bytes=self.limits.output_bytes)
        return MessageGuard(self.assignment.contract, self.assignment.context, limits)

    # -- what is wrong with an answer

    async def _faults(self, reply: ModelReply, *, is_last: bool) -> str | None:
        """Return the feedback on an answer; None if asking again would not help."""
        result = self._checked(reply)
        if isinstance(result, Rejected):
            if not is_last and reply.text.strip():
                self._record_bad_answer(reply, result)
            return feedback(result)

        if self.assignment.opinion is None:
            return None
        opinion = await asyncio.to_thread(self.assignment.opinion, reply.text.encode())
        self.seen.append(Observation("submitted", opinion.to_json()))
        if opinion.done or opinion.is_final:
            return None
        return opinion.text

    def _checked(self, reply: ModelReply) -> Accepted[Any] | Rejected:
        """Check an answer. A doomed answer is rejected for its doom alone."""
        contract = self.assignment.contract
        if reply.doom is not None:
            return Rejected((reply.doom,), 1, contract.version)
        return check(reply.text.encode(), contract, self.assignment.context)

    # -- records

    def _record_bad_answer(self, reply: ModelReply, result: Rejected) -> None:
        """Record an answer that broke its contract.

        The last answer is not recorded here: it is the message of the run.
        """
        text = reply.text.encode("utf-8", "replace")
        details = {
            "answer": hashlib.sha256(text).hexdigest(),
            "why": str(result.violations[0]),
        }
        self.seen.append(Observation(ASKED_AGAIN, details))

    def _record_call(self, reply: ModelReply, *, is_kept: bool) -> None:
        """Record the call: with the prompt and the calls before, it can be rebuilt."""
        spent = reply.spent(self._pricing)
        details = {
            "model": self.model,
            "prompt_sha256": self.assignment.prompt.sha256,
            "told": reply.feedback,
            "said": reply.text[:MAX_REPEATED_CHARACTERS],
            "finish": reply.finish,
            "doom": reply.doom.code if reply.doom else None,
            "fault": reply.fault.value if reply.fault else None,
            "read_tokens": spent.read,
            "written_tokens": spent.written,
            "estimated": spent.estimated,
            "kept": is_kept,  # by an interrupted run; the model was not asked again
        }
        self.seen.append(Observation(MODEL_CALL, details))
