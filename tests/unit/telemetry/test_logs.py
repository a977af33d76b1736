"""Log lines: their shape, and what never stands in them."""

from __future__ import annotations

import io
import json
import logging

import pytest

from accordance.telemetry.logs import about, logged, without_secrets

log = logging.getLogger("accordance.test")


def test_a_json_line() -> None:
    """Time, level, event, and what it is about; nothing that is not known."""
    out = io.StringIO()
    with logged("json", "info", out), about(run="P", task="a"), about(attempt=2):
        log.info("began %s", "well")
    line = json.loads(out.getvalue())
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "info",
        "event": "began well",
        "logger": "accordance.test",
        "run": "P",
        "task": "a",
        "attempt": 2,
    }


def test_a_plain_line() -> None:
    """What a person reads at a glance."""
    out = io.StringIO()
    with logged("text", "info", out), about(task="a", attempt=2):
        log.warning("is slow")
    assert out.getvalue()[8:] == "  warning  a 2  is slow\n"


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        """Yes."""
        return True


@pytest.mark.parametrize(
    ("out", "is_json"),
    [(io.StringIO(), True), (Terminal(), False)],
    ids=["a pipe", "a terminal"],
)
def test_the_format_fits_the_reader(out: io.StringIO, is_json: bool) -> None:
    """JSON for programs, text for people, unless it is named."""
    with logged("auto", "info", out):
        log.info("here")
    assert out.getvalue().startswith("{") is is_json


def test_levels_and_nested_blocks() -> None:
    """What is below the level is left out; a line is written once; afterwards none is."""
    out = io.StringIO()
    with logged("json", "warning", out):
        log.info("too small")
        with logged("json", "info", io.StringIO()):
            log.warning("once")
    log.warning("after")
    assert [json.loads(line)["event"] for line in out.getvalue().splitlines()] == [
        "once"
    ]


def test_an_error_has_its_traceback_in_the_same_line() -> None:
    """And a secret in it is hidden."""
    out = io.StringIO()
    with logged("json", "info", out):
        try:
            int("password=hunter2-and-more")
        except ValueError:
            log.exception("it failed")
    (line,) = out.getvalue().splitlines()
    assert "ValueError" in json.loads(line)["error"]
    assert "hunter2" not in line


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("key acc_AbCdEf0123456789_x", "AbCdEf0123456789"),
        ("secret whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "MfKQ9r8"),
        ("postgresql://ada:pass.word@db/x cannot be reached", "pass.word"),
        ("Authorization: Bearer eyJhbGciOi.J9.abc", "eyJhbGciOi"),
        ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("OPENAI_API_KEY=sk-proj-0123456789abcdef", "0123456789abcdef"),
        ('{"client_secret": "not-for-you"}', "not-for-you"),
        ("?token=abc123def&x=1", "abc123def"),
        ("password: open sesame", "open"),
        ("ghp_0123456789abcdefghij", "0123456789"),
    ],
)
def test_secrets_are_hidden(text: str, secret: str) -> None:
    """Whatever looks like a key, a token or a password."""
    hidden = without_secrets(text)
    assert secret not in hidden
    assert "[hidden]" in hidden


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://ada@db/x cannot be reached",
        "POST /v1/tasks/a/submit 200",
        "12 tokens used, 3 keys made, a secretary asked",
        "http://127.0.0.1:8420/v1",
        "attempt settled: DONE APPROVE",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    """An honest line is left alone."""
    assert without_secrets(text) == text
