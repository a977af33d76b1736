"""Logs: a JSON object a line for programs, a plain line for people.

Each says to which run, task and attempt it belongs, and to which span. What looks like
a key, a token or a password is taken out of every line.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TextIO

from accordance.telemetry import tracing
from accordance.telemetry.log_formats import LogFormat, LogLevel

ROOT: Final = "accordance"
_ABOUT: Final = ("run", "task", "attempt")
_about: Final[ContextVar[dict[str, str | int]]] = ContextVar("about", default={})  # noqa: B039 - never changed in place
_HIDDEN: Final = "[hidden]"
_SECRETS: Final = re.compile(
    r"""(?ix)
    (?P<key>\bacc_[\w-]{8,})                            # keys of our own
  | (?P<hook>\bwhsec_[\w+/=-]{8,})                      # secrets of webhooks
  | (?P<model>\b(?:sk|pk|xox[bp]|gh[pousr])[-_][\w-]{12,})
  | (?<=://)(?P<user>[^\s/:@]+:[^\s/@]+)(?=@)           # in an address
  | (?P<head>\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}
  | (?P<name>\b[\w-]*(?:password|passwd|secret|token|api[_-]?key)["']?\s*[=:]\s*["']?)[^\s"',;&]+
    """
)


@contextmanager
def about(**words: str | int) -> Iterator[None]:
    """Say what the lines within a block are about: run, task, attempt."""
    token = _about.set({**_about.get(), **words})
    try:
        yield
    finally:
        _about.reset(token)


def without_secrets(text: str) -> str:
    """Take out of a text whatever looks like a key, a token or a password."""
    return _SECRETS.sub(_hide, text)


def _hide(secret: re.Match[str]) -> str:
    kept = secret["head"] or secret["name"] or ""
    return f"{kept}{_HIDDEN}"


class JsonLines(logging.Formatter):
    """A JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a line."""
        place = tracing.current()
        content: dict[str, str | int | None] = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "event": without_secrets(record.getMessage()),
            "logger": record.name,
            **{word: _about.get().get(word) for word in _ABOUT},
            "trace": f"{place.trace:032x}" if place else None,
            "span": f"{place.span:016x}" if place else None,
        }
        if record.exc_info:
            error = self.formatException(record.exc_info)
            content["error"] = without_secrets(error)
        known = {name: value for name, value in content.items() if value is not None}
        return json.dumps(known, ensure_ascii=False)


class PlainLines(logging.Formatter):
    """A line as a person reads it: time, level, what it is about, what happened."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a line, and a traceback behind it."""
        words = _about.get()
        known = [words[word] for word in _ABOUT if word in words]
        subject = " ".join(map(str, known))
        parts = (
            _moment(record)[11:19],
            record.levelname.lower(),
            subject,
            record.getMessage(),
        )
        text = "  ".join(part for part in parts if part)
        if record.exc_info:
            text = f"{text}\n{self.formatException(record.exc_info)}"
        return without_secrets(text)


def _moment(record: logging.LogRecord) -> str:
    moment = dt.datetime.fromtimestamp(record.created, dt.UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class _Lines(logging.StreamHandler[TextIO]):
    """Where our lines go."""


@contextmanager
def logged(
    form: LogFormat,
    level: LogLevel,
    stream: TextIO | None = None,
) -> Iterator[None]:
    """Write logs to standard error as long as the block runs."""
    handlers = logging.getLogger(ROOT).handlers
    if any(isinstance(handler, _Lines) for handler in handlers):
        yield  # an outer block writes them already
        return
    out = sys.stderr if stream is None else stream
    is_plain = form == "text" or (form == "auto" and out.isatty())
    handler = _Lines(out)
    handler.setFormatter(PlainLines() if is_plain else JsonLines())
    loggers = [logging.getLogger(name) for name in (ROOT, "uvicorn.error")]
    before = [(logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(level.upper())
        logger.propagate = False
    try:
        yield
    finally:
        for logger, (old_level, propagates) in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(old_level)
            logger.propagate = propagates
