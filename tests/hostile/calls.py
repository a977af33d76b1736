"""Calls of the command line that no honest person makes twice: every command, with arguments, files and ledgers that do not fit.

The commands are walked, so that a new one takes part by itself. Every call ends with a documented exit code and, if that
is an error, with one line that says so. `make fuzz` goes on with this for as long as it is asked to:

    python -m tests.hostile.calls --seconds 60 --seed 7
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import json
import os
import random
import shlex
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import click
import uvicorn

from accordance.cli.main import app, run
from tests.messages import edge, node, plan

DOCUMENTED = frozenset({0, 1, 2, 3, 4, 5, 6, 130, 143})
IN_ONE_LINE = frozenset({2, 4, 5, 6})  # the others are outcomes, and say more
SECONDS = 60  # for one call, on a busy machine
LONG = "n" * 5000
DEEP = 100_000

TEXTS = (
    "", "-", "--", "---", "0", "-1", "1.5", "9" * 40, "NaN", "true", "None", "é", "\u202eabc", "\x1b[31mred", "a b",
    "a\nb", "\udc80\udcff", LONG, "../../..", "/", "~", "*", "%s%n", "{}", "[]", '{"a": 1}', "'; DROP TABLE plans; --", "@x",
    "--json", "-h", "plan-1", "n1", "top", "xiaobo_action_v1", "PLAN_GEN",
)  # fmt: skip
NUMBERS = (
    "",
    "-",
    "0",
    "-1",
    "1",
    "2",
    "1.5",
    "1e3",
    "9" * 40,
    "x",
    "\udc80",
    "inf",
    "nan",
    "0x10",
)
ADDRESSES = (
    "mysql://x/y", "sqlite://", "sqlite:///", LONG, "postgresql://x:y/z", "postgresql://h:99999999/z", "postgresql://", "postgresql://localhost:1/none?connect_timeout=2", "://", "oracle+cx://u:p@h/d",
    "http://localhost/", "\udc80.db", "", "-", "ledger.db/below", "text.db", "truncated.db", "folder", "loop", "/dev/null",
)  # fmt: skip
SHARED = frozenset({"--home", "--ledger"})
ENDLESS = frozenset({"--follow", "--wait"})  # a person ends these


@dataclass(frozen=True)
class Ended:
    """How a call has ended."""

    code: int
    out: str
    err: str

    def fault(self) -> str | None:
        """What is wrong with it, if anything."""
        if self.code not in DOCUMENTED:
            return f"exit code {self.code}"
        if "Traceback" in self.err:
            return "a traceback"
        lines = [line for line in self.err.splitlines() if line]
        is_told = bool(lines) and lines[-1].startswith("accordance: ")
        if self.code in IN_ONE_LINE and not (
            is_told or self.out.strip()
        ):  # an answer tells it, too
            return "no line that says why"
        return None


class TooLong(BaseException):
    """The call does not end."""


class Stage:
    """A folder with everything a call may stumble over."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._streams: list[object] = []
        self._contents: dict[str, bytes] = {}
        self.files = tuple(self._build())
        self._there = set(root.iterdir())

    def _build(self) -> Iterator[str]:
        whole = plan(
            [node("top", "GOAL"), node("n1"), node("n2")],
            [edge("top", "n1"), edge("top", "n2")],
            root="top",
        )
        for name, content in {
            "plan.json": json.dumps(whole).encode(),
            "empty.json": b"",
            "binary.json": bytes(range(256)) * 8,
            "deep.json": b'{"a":' * DEEP,
            "deep.toml": b"a = " + b"[" * DEEP,
            "digits.toml": b"a = " + b"9" * 5000,
            "text.db": b"this is no ledger\n" * 100,
            "list.json": b"[1, 2]",
            "\udcff\udcfe.json": b"{}",
            "line\nbreak.json": b"{}",
        }.items():
            self._contents[name] = content
            (self.root / name).write_bytes(content)
            yield name
        (self.root / "folder").mkdir()
        (self.root / "loop").symlink_to("loop")
        (self.root / "dangling").symlink_to("nowhere")
        os.mkfifo(self.root / "pipe")
        with (self.root / "sparse.json").open("wb") as sparse:
            sparse.truncate(100 << 20)
        (self.root / "closed.json").write_bytes(b"{}")
        (self.root / "closed.json").chmod(0)
        self.call("plan", "import", "plan.json", "--no-review")
        ledger = self.root / ".accordance" / "ledger.db"
        (self.root / "truncated.db").write_bytes(ledger.read_bytes()[:5000])
        shutil.copy(ledger, self.root / "kept.db")
        deep_home = self.root / "deep-home"
        deep_home.mkdir()
        shutil.copy(self.root / "deep.toml", deep_home / "accordance.toml")
        yield from (
            "folder",
            "loop",
            "dangling",
            "pipe",
            "sparse.json",
            "closed.json",
            "truncated.db",
            "deep-home",
        )
        yield from (
            "missing.json",
            "missing/below/this.json",
            "plan.json/below",
            LONG,
            "-",
            "",
            "/dev/null",
            "/dev/full",
        )

    def reset(self) -> None:
        """Bring everything back to where every call begins, so that a call can be repeated by itself."""
        for new in set(self.root.iterdir()) - self._there:
            shutil.rmtree(new) if new.is_dir() else new.unlink()
        for name, content in self._contents.items():
            if (self.root / name).stat().st_size != len(content):
                (self.root / name).write_bytes(content)
        ledger = self.root / ".accordance" / "ledger.db"
        for beside in ledger.parent.glob("ledger.db-*"):
            beside.unlink()
        shutil.copy(self.root / "kept.db", ledger)

    def call(self, *args: str, stdin: bytes = b"") -> Ended:
        """Make a call in this process."""
        streams = sys.stdin, sys.stdout, sys.stderr
        before = Path.cwd()
        out, err = io.BytesIO(), io.BytesIO()
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
        sys.stdout = io.TextIOWrapper(out, encoding="utf-8", errors="replace")
        sys.stderr = io.TextIOWrapper(err, encoding="utf-8", errors="replace")
        os.chdir(self.root)
        try:
            with _limited(SECONDS), _servers_end_at_once():
                code = run(args)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except TooLong:
            code = 124
            traceback.print_exc(file=sys.stderr)
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
                self._streams.append(stream)  # what logs may still hold it
            sys.stdin, sys.stdout, sys.stderr = streams
            os.chdir(before)
            gc.enable()
        return Ended(code, out.getvalue().decode(), err.getvalue().decode())


@contextlib.contextmanager
def _servers_end_at_once() -> Iterator[None]:
    """What a server would do after it has begun to listen is not a matter of its call."""
    with mock.patch.object(uvicorn.Server, "run"):
        yield


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def too_long(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass(frozen=True)
class Command:
    """A command and what it takes."""

    words: tuple[str, ...]
    params: tuple[click.Parameter, ...]

    def __str__(self) -> str:
        return " ".join(self.words)


def commands() -> list[Command]:
    """Every command there is."""
    return list(_below(app, click.Context(app), ()))


def _below(
    command: click.Command, context: click.Context, words: tuple[str, ...]
) -> Iterator[Command]:
    if not isinstance(command, click.Group):
        yield Command(words, tuple(command.params))
        return
    for name in command.list_commands(context):
        part = command.get_command(context, name)
        assert part is not None
        yield from _below(
            part, click.Context(part, info_name=name, parent=context), (*words, name)
        )


def random_call(
    dice: random.Random, command: Command, files: Sequence[str]
) -> list[str]:
    """A call of a command: each argument mostly there, each option sometimes, some twice, most of them unfit."""
    args = list(command.words)
    for param in command.params:
        if isinstance(param, click.Argument):
            many = dice.choice((1, 2)) if param.nargs == -1 else 1
            if dice.random() < 0.9:
                args += [_value(dice, param, files) for _ in range(many)]
        elif not ENDLESS.intersection(param.opts):
            wanted = 0.95 if param.required else 0.25
            times = (dice.random() < wanted) + (dice.random() < 0.03)
            for _ in range(times):
                args.append(dice.choice(param.opts))
                if not getattr(param, "is_flag", False):
                    args.append(_value(dice, param, files))
    if dice.random() < 0.05:
        args.insert(dice.randrange(len(args) + 1), dice.choice(TEXTS))
    return args


def _value(dice: random.Random, param: click.Parameter, files: Sequence[str]) -> str:
    kind = param.type
    if dice.random() < 0.1:
        return dice.choice(TEXTS)
    if isinstance(kind, click.Choice):
        return str(dice.choice([*kind.choices, "none-of-these", ""]))
    if isinstance(kind, click.Path):
        return dice.choice(files)
    if "--ledger" in param.opts:
        return dice.choice(ADDRESSES)
    if kind.name in ("integer", "float", "integer range", "float range"):
        return dice.choice(NUMBERS)
    return dice.choice([*TEXTS, *files])


def each_value(command: Command, files: Sequence[str]) -> Iterator[list[str]]:
    """For each thing that a command takes, each value that does not fit, and something harmless for the rest.

    What every command has in common is read in one place, and tried with one of them.
    """
    for param in command.params:
        if getattr(param, "is_flag", False):
            continue
        if str(command) != "plan list" and SHARED.intersection(param.opts):
            continue
        is_path = isinstance(param.type, click.Path)
        values = (
            files
            if is_path
            else ADDRESSES
            if "--ledger" in param.opts
            else ("", LONG, "\udc80", "\x1b[31m", "-")
        )
        for value in values:
            yield [*command.words, *_rest(command, param), *_given(param, value)]


def _rest(command: Command, but: click.Parameter) -> Iterator[str]:
    for param in command.params:
        if param.required and param is not but:
            yield from _given(
                param, "plan.json" if isinstance(param.type, click.Path) else "n1"
            )


def _given(param: click.Parameter, value: str) -> list[str]:
    return [value] if isinstance(param, click.Argument) else [param.opts[0], value]


def the_call(args: Sequence[str]) -> str:
    """A call as a person would repeat it, as long as fits a line of a report."""
    return ascii(shlex.join(["accordance", *args]))[:400]


def main() -> int:
    """Make calls until the time is up; say which one went wrong, and how to repeat it."""
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--seed", type=int, default=None)
    chosen = options.parse_args()
    seed = (
        chosen.seed
        if chosen.seed is not None
        else random.SystemRandom().randrange(1 << 32)
    )
    dice = random.Random(seed)
    end = time.monotonic() + chosen.seconds
    made = 0
    faults: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder))
        known = commands()
        while time.monotonic() < end:
            args = random_call(dice, dice.choice(known), stage.files)
            ended = stage.call(*args, stdin=dice.choice((b"", b"{}", b"\xff")))
            stage.reset()
            made += 1
            fault = ended.fault()
            if fault is not None:
                last = (ended.err.strip().splitlines() or [""])[-1]
                faults.setdefault(f"{fault}: {last[:200]}", the_call(args))
    click.echo(f"{made} calls with --seed {seed}: {len(faults)} kinds of faults")
    for what, call in faults.items():
        click.echo(f"  {what!a}\n    {call}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
