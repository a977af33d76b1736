"""What a client can ask for, and how a message is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from a2a.types.a2a_pb2 import Message, Part, SendMessageRequest
from a2a.utils.errors import ContentTypeNotSupportedError, InvalidParamsError
from google.protobuf.json_format import MessageToDict

from accordance.domain.short_plans.file_names import PlanFormat

_FORMATS: Final[Mapping[str, PlanFormat]] = {
    "application/json": "json",
    "application/yaml": "yaml",
    "application/toml": "toml",
    "text/markdown": "md",
}
_WORDS: Final = ("", "text", "text/plain")


class Skill(StrEnum):
    """What a message is for. What has no task yet may name the first three."""

    PLAN = "plan"
    WORK = "work"
    CHECK = "check"
    ANSWER = "answer"
    SUBMIT = "submit"
    ASK = "ask"
    EXTEND = "extend"
    RELEASE = "release"


OPENINGS: Final = (Skill.PLAN, Skill.WORK, Skill.CHECK)
"""The skills of a message that names no task."""


@dataclass(frozen=True, slots=True)
class PartContent:
    """What a message says: its bytes, and of which kind they are."""

    raw: bytes
    media_type: str
    file_name: str = ""
    is_file: bool = False

    @property
    def text(self) -> str:
        """The words. Raises ContentTypeNotSupportedError for other bytes."""
        try:
            return self.raw.decode()
        except UnicodeDecodeError:
            raise ContentTypeNotSupportedError(
                "words were expected here, and the part is no text in UTF-8"
            ) from None

    @property
    def is_words(self) -> bool:
        """Whether it is plain text, as a person writes it."""
        return not self.is_file and self.media_type in _WORDS

    @property
    def plan_format(self) -> PlanFormat:
        """The format of a plan. Raises ContentTypeNotSupportedError."""
        form = _FORMATS.get(self.media_type)
        if form is None:
            raise ContentTypeNotSupportedError(
                f"a plan is no {self.media_type or 'part without a type'};"
                f" send {', '.join(_FORMATS)}"
            )
        return form


@dataclass(frozen=True, slots=True)
class Wish:
    """A message that was read: what it is for, about which task, and what it says."""

    message_id: str
    skill: Skill | None
    task: str
    plan: str  # the context it names
    contents: tuple[PartContent, ...]
    options: Mapping[str, Any]

    def one_content(self) -> PartContent:
        """Return what the message says, in its only part. Raises InvalidParamsError."""
        if len(self.contents) != 1:
            raise InvalidParamsError(
                f"a single part was expected here, and there are {len(self.contents)}"
            )
        return self.contents[0]

    def words(self) -> str:
        """Return what all text parts say."""
        return "\n\n".join(content.text for content in self.contents)

    def flag(self, name: str, *, default: bool) -> bool:
        """Return an option that is yes or no. Raises InvalidParamsError."""
        value = self.options.get(name, default)
        if not isinstance(value, bool):
            raise InvalidParamsError(f"metadata.{name} is true or false")
        return value

    def word(self, name: str) -> str | None:
        """Return an option that is a text. Raises InvalidParamsError."""
        value = self.options.get(name)
        if value is not None and not isinstance(value, str):
            raise InvalidParamsError(f"metadata.{name} is a text")
        return value


def wish_of(request: SendMessageRequest) -> Wish:
    """Read a message. Raises InvalidParamsError, ContentTypeNotSupportedError."""
    message = request.message
    options = {**_object(request, "metadata"), **_object(message, "metadata")}
    wish = Wish(
        message_id=message.message_id,
        skill=_skill_of(options),
        task=message.task_id,
        plan=message.context_id,
        contents=tuple(_content(part) for part in message.parts),
        options=options,
    )
    if not wish.task and wish.skill is not None and wish.skill not in OPENINGS:
        raise InvalidParamsError(
            f"{wish.skill.value} is about a task: name it in message.taskId"
        )
    return wish


def _object(holder: SendMessageRequest | Message, name: str) -> dict[str, Any]:
    if not holder.HasField(name):
        return {}
    struct = MessageToDict(getattr(holder, name))
    content: dict[str, Any] = as_whole_numbers(struct)
    return content


def _skill_of(options: Mapping[str, Any]) -> Skill | None:
    name = options.get("skill")
    if name is None:
        return None
    if name not in list(Skill):
        known = ", ".join(skill.value for skill in Skill)
        shown = str(name)[:60]
        raise InvalidParamsError(f"there is no skill {shown!r}; known: {known}")
    return Skill(name)


def _content(part: Part) -> PartContent:
    kind = part.media_type.partition(";")[0].strip().lower()
    match part.WhichOneof("content"):
        case "text":
            return PartContent(part.text.encode(), kind, part.filename)
        case "data":
            value = as_whole_numbers(MessageToDict(part.data))
            raw = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
            return PartContent(raw, kind or "application/json", part.filename)
        case "raw":
            return PartContent(part.raw, kind, part.filename, is_file=True)
        case "url":
            raise ContentTypeNotSupportedError(
                "accordance fetches nothing: send the content itself, not its address"
            )
    raise InvalidParamsError("a part of the message is empty")


def as_whole_numbers(value: Any) -> Any:
    """Return data with its whole numbers as such: A2A has a single kind of number."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: as_whole_numbers(each) for name, each in value.items()}
    if isinstance(value, list):
        return [as_whole_numbers(each) for each in value]
    return value
