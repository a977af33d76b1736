"""The `llm` executor: asks a model for the message, and again with the faults of its answer, within one run.

The faults are those of the contract and, where somebody judges while it runs (edits of a repository), of the work. Every call is counted: tokens as reported, reckoned where a stream was broken off.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

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
from accordance.executors.llm.failing import fault_of, is_turned_away, wait_of, words_of
from accordance.executors.llm.models import (
    CannotBegin,
    key_for,
    open_model,
    parameters,
    takes_schema,
)
from accordance.executors.pricing import Pricing, pricing, room_for_answer
from accordance.executors.protocol import (
    ASKED_AGAIN,
    MODEL_CALL,
    MOST_REPEATED,
    Assignment,
    Produced,
    RunLimits,
    Seen,
)
from accordance.executors.redaction import withhold

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

_LOOK_EVERY: Final = 0.05  # seconds between looks at the wish to stop


@dataclass(frozen=True, slots=True)
class LlmExecutor:
    """Asks the model of its spec."""

    spec: LlmSpec

    def run(self, assignment: Assignment, limits: RunLimits) -> Produced:
        """Ask until the message is good, the re-asks are used up, or something fails."""
        name = assignment.model or self.spec.model
        try:
            key = key_for(self.spec)
            model = open_model(self.spec, name, key)
        except CannotBegin as error:
            return Produced(fault=error.fault, text=str(error))
        began = time.monotonic()
        talk = _Talk(self.spec, assignment, limits, name, key)
        produced = asyncio.run(_bounded(talk.hold(model), limits))
        produced = replace(
            produced,
            spending=talk.spent,
            seen=tuple(talk.seen),
            duration_ms=round((time.monotonic() - began) * 1000),
        )
        return withhold(produced, key)


async def _bounded(work: Coroutine[Any, Any, Produced], limits: RunLimits) -> Produced:
    """Do the work until it is done, its time is up, or it is to stop."""
    # a client whose stream was broken off may complain while it is taken down; nobody needs to hear that
    asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
    task = asyncio.ensure_future(work)
    ends = time.monotonic() + limits.seconds
    while not task.done():
        await asyncio.wait(
            {task}, timeout=min(_LOOK_EVERY, max(0.0, ends - time.monotonic()))
        )
        if task.done():
            break
        if limits.stop.is_set() or time.monotonic() >= ends:
            task.cancel()
            await asyncio.wait({task}, timeout=1)
            if limits.stop.is_set():
                return Produced(fault=Fault.STOPPED, text="it was stopped")
            return Produced(
                fault=Fault.TIMED_OUT, text=f"it took longer than {limits.seconds:g} s"
            )
    return task.result()


@dataclass(slots=True)
class _Talk:
    """One conversation with a model."""

    spec: LlmSpec
    assignment: Assignment
    limits: RunLimits
    model: str
    key: str
    answers: list[ModelReply] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)

    @property
    def spent(self) -> Spending:
        """All calls together."""
        return total(one.spent(self._put) for one in self.answers)

    @property
    def _put(self) -> Pricing | None:
        return pricing(self.spec, self.model)

    async def hold(self, model: Model[Any]) -> Produced:
        async with model:
            native = takes_schema(self.spec, model)
            asker = Asker(
                model,
                self._settings(),
                parameters(self.spec, self.assignment.contract, native=native),
                self.limits.output_bytes,
            )
            produced = await self._converse(asker)
            if (
                native
                and self.spec.output == "auto"
                and produced.fault is Fault.REJECTED
            ):
                self.seen.append(Seen("schema_not_taken", {"why": produced.text}))
                produced = await self._converse(
                    replace(
                        asker,
                        parameters=parameters(
                            self.spec, self.assignment.contract, native=False
                        ),
                    )
                )
            return produced

    async def _converse(self, asker: Asker) -> Produced:
        prompt = self.assignment.prompt
        messages: list[ModelMessage] = [
            ModelRequest(
                parts=[SystemPromptPart(prompt.system), UserPromptPart(prompt.user)]
            )
        ]
        sent, told = prompt.text, None
        for turn in range(1 + self.spec.reasks):
            answer = ModelReply(sent, told)
            asked = self._question(asker, turn)
            self.answers.append(answer)
            is_kept = await self._ask(asker, messages, answer, asked)
            self._note(answer, is_kept=is_kept)
            if answer.fault is not None:
                return Produced(
                    fault=answer.fault, text=answer.why, retry_after=answer.wait
                )
            told = await self._faults(answer, is_last=turn == self.spec.reasks)
            if told is None:
                return Produced(raw=answer.text.encode())
            if self.spent.uses_up(self.limits.budget):
                return Produced(
                    fault=Fault.OVER_BUDGET,
                    text=f"{self.spent.tokens:,} tokens are used",
                )
            said = (
                [ModelResponse(parts=[TextPart(answer.text[:MOST_REPEATED])])]
                if answer.text
                else []
            )
            messages += [*said, ModelRequest(parts=[UserPromptPart(told)])]
            sent += answer.text[:MOST_REPEATED] + told
        last = self.answers[-1].text
        if not last.strip():
            return Produced(fault=Fault.SILENT, text="the model said nothing")
        return Produced(
            raw=last.encode()
        )  # as it is: whoever judges it says what is wrong with it

    def _question(self, asker: Asker, turn: int) -> str:
        """The hash of what is asked now. All of it follows from the prompt and what the model has said since.

        What it was told about that is left out: tests print something else each time, and mean the same.
        """
        said = [one.text for one in self.answers[len(self.answers) - turn :]]
        words = [
            self.model,
            asker.parameters.output_mode,
            self.assignment.prompt.text,
            *said,
        ]
        return hashlib.sha256(json.dumps(words).encode()).hexdigest()

    async def _ask(
        self, asker: Asker, messages: list[ModelMessage], answer: ModelReply, asked: str
    ) -> bool:
        """Fill the answer; whether it was kept from a run that was cut off, and the model was not asked again."""
        memory, guard = self.assignment.memory, self._guard()
        if (kept := memory.recall(asked)) is not None:
            answer.remember(kept, guard)
            return True
        most = self._room
        asker = replace(asker, settings={**asker.settings, "max_tokens": most})
        try:
            await asker.ask(messages, guard, answer)
        except Exception as error:  # noqa: BLE001 - whatever a provider's client raises is a fault, not ours
            answer.is_sent = bool(answer.text or answer.thought) or not is_turned_away(
                error
            )
            answer.fault, answer.why, answer.wait = (
                fault_of(error),
                words_of(error, self.key),
                wait_of(error),
            )
        if answer.fault is Fault.TOO_LONG and most < self.spec.max_tokens:
            answer.fault = Fault.OVER_BUDGET
            answer.why = f"the answer does not fit into the {most:,} tokens that were left for it"
        if answer.fault is None:
            memory.keep(asked, answer.to_json())
        return False

    async def _faults(self, answer: ModelReply, *, is_last: bool) -> str | None:
        """What the model is told about its answer; None where there is nothing that asking again could mend."""
        result = self._checked(answer)
        if isinstance(result, Rejected):
            if not is_last and answer.text.strip():
                self._note_bad(answer, result)
            return feedback(result)
        if self.assignment.opinion is None:
            return None
        opinion = await asyncio.to_thread(self.assignment.opinion, answer.text.encode())
        self.seen.append(Seen("submitted", opinion.to_json()))
        return None if opinion.done or opinion.is_final else opinion.text

    def _note_bad(self, answer: ModelReply, result: Rejected) -> None:
        """Remember an answer that honours no contract: the last one is the run's message, and counts as that."""
        text = answer.text.encode("utf-8", "replace")
        why = str(result.violations[0])
        self.seen.append(
            Seen(ASKED_AGAIN, {"answer": hashlib.sha256(text).hexdigest(), "why": why})
        )

    @property
    def _room(self) -> int:
        """How many tokens the next answer may have."""
        room = room_for_answer(self.limits.budget, self.spent, self._put)
        return self.spec.max_tokens if room is None else min(room, self.spec.max_tokens)

    def _checked(self, answer: ModelReply) -> Accepted[Any] | Rejected:
        """A doomed message is rejected for its doom; its rest was never written."""
        contract = self.assignment.contract
        if answer.doom is not None:
            return Rejected((answer.doom,), 1, contract.version)
        return check(answer.text.encode(), contract, self.assignment.context)

    def _guard(self) -> MessageGuard:
        most = replace(LIMITS, max_bytes=self.limits.output_bytes)
        return MessageGuard(self.assignment.contract, self.assignment.context, most)

    def _settings(self) -> ModelSettings:
        settings: ModelSettings = {"max_retries": 0}
        if self.spec.temperature is not None:
            settings["temperature"] = self.spec.temperature
        return settings

    def _note(self, answer: ModelReply, *, is_kept: bool) -> None:
        """Remember the call: with the prompt and what was said before, it can be rebuilt."""
        spent = answer.spent(self._put)
        details = {
            "model": self.model,
            "prompt_sha256": self.assignment.prompt.sha256,
            "told": answer.told,
            "said": answer.text[:MOST_REPEATED],
            "finish": answer.finish,
            "doom": answer.doom.code if answer.doom else None,
            "fault": answer.fault.value if answer.fault else None,
            "read_tokens": spent.read,
            "written_tokens": spent.written,
            "estimated": spent.estimated,
            "kept": is_kept,  # by an earlier run that was cut off: nobody was asked again
        }
        self.seen.append(Seen(MODEL_CALL, details))
