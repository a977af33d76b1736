"""Reports every test of a run, from inside the process that runs it.

Python imports a module of this name before anything of the tree can be imported: the
folder it lies in comes first on PYTHONPATH and is read-only for the tests. Nothing is
imported here that the run does not import anyway: pytest and unittest are hooked when,
and only when, they are loaded.

Each event is a line of JSON, appended to the file that BUILD_REPORT names. Whether the
lines prove anything is for the judge to say, in another process: code of the tree runs
beside this module and could write lines too. So canaries run between the tests; a
runner that was patched to say "passed" says it of them as well.

This file is run by the interpreter of the tests, whichever that is. It keeps to what
Python 3.8 knows and imports nothing of accordance. It is a single file, however long,
because a second module beside it could be shadowed by a module of the tree.
"""

from __future__ import annotations

import importlib.machinery
import json
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself is slow to import, and this runs in every Python
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

_FILE = "BUILD_REPORT"
_OWNER = "BUILD_REPORT_OWNER"  # the process whose run is reported
_ONLY = "BUILD_ONLY"  # the id of the only test that is to be run
_EVERY = 50  # tests between two rounds of canaries
_MOST_TEXT = 4000  # characters kept of why a test failed

_write, _open, _dumps, _getpid = os.write, os.open, json.dumps, os.getpid


class Stream:
    """The events of a process, numbered without a gap."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._number = 0
        self._descriptor = -1
        self._pid = 0

    def emit(self, event: str, **more: object) -> None:
        """Append an event."""
        pid = _getpid()
        if self._pid != pid:  # the first event, or a forked child's first
            flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
            self._descriptor = _open(self._place, flags)
            self._pid, self._number = pid, 0
        line: dict[str, object] = {"pid": pid, "number": self._number, "event": event}
        line.update(more)
        text = _dumps(line) + "\n"
        _write(self._descriptor, text.encode("ascii"))
        self._number += 1


class Run:
    """The only run of this process that is reported.

    Tests of a test tool start runs of their own, in this process or in others. Only the
    outermost counts: others find `is_going` set, or another owner in the environment.
    """

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.is_going = False
        self.runner = ""
        self.tracer: Tracer | None = None
        self.count = 0

    def begin(self, runner: str, version: str, *, is_part: bool = False) -> bool:
        """Begin, unless another run is going on already."""
        owner = os.environ.get(_OWNER)
        is_nested = owner is not None and owner != str(_getpid()) and not is_part
        if self.is_going or is_nested:
            return False
        self.is_going = True
        self.runner = runner
        os.environ[_OWNER] = str(_getpid())
        self.stream.emit("begin", runner=runner, version=version, part=is_part)
        return True

    def collected(self, ids: list[str]) -> None:
        """These tests are about to run."""
        self.stream.emit("collected", count=len(ids))

    def result(
        self,
        test: str,
        phase: str,
        outcome: str,
        seconds: float = 0.0,
        text: str = "",
        raised: bool | None = None,
    ) -> None:
        """A phase of a test is over."""
        if phase == "call":
            self.count += 1
        more: dict[str, object] = {
            "phase": phase,
            "outcome": outcome,
            "seconds": round(seconds, 4),
        }
        if text:
            more["text"] = text[-_MOST_TEXT:]  # the end says why
        if raised is not None:
            more["raised"] = raised
        self.stream.emit("result", test=test, **more)

    def canary(self, name: str, expected: str, outcome: str) -> None:
        """A test of our own, and what the runner says of it."""
        self.stream.emit("canary", name=name, expected=expected, outcome=outcome)

    def end(self, status: int) -> None:
        """The run is over."""
        if self.tracer is not None:
            self.tracer.end()
        self.stream.emit("end", status=status)
        self.is_going = False


# -- pytest ---------------------------------------------------------------------------


def _canary_passes() -> None:
    """Pass."""


def _canary_fails() -> None:
    raise AssertionError("this canary fails")


_CANARIES = (("passes", _canary_passes, "passed"), ("fails", _canary_fails, "failed"))


def hook_pytest(module: Any, run: Run) -> None:
    """Register our plugin with every configuration of pytest, before any other code."""
    original = module.Config.__init__

    def __init__(  # noqa: N807 - it takes the place of the original
        self: Any, pluginmanager: Any, *args: Any, **kwargs: Any
    ) -> None:
        original(self, pluginmanager, *args, **kwargs)
        pluginmanager.register(_pytest_plugin(module, run), "build-report")

    module.Config.__init__ = __init__


def _pytest_plugin(config_module: Any, run: Run) -> object:  # noqa: C901
    """Make the plugin, from the classes of the pytest that is there."""
    from _pytest.python import Function
    from _pytest.runner import SetupState, runtestprotocol

    hookimpl = config_module.hookimpl

    class Canary(Function):
        """Goes the way of every test function, but sets up no fixture of the tree."""

        def setup(self) -> None:
            """Set up nothing."""

    class Plugin:
        is_reported = False
        raised: bool | None = None
        tests = 0
        session: Any = None

        @hookimpl(tryfirst=True)
        def pytest_sessionstart(self, session: Any) -> None:
            config = session.config
            is_worker = hasattr(config, "workerinput")
            version = getattr(config_module, "__version__", "")
            self.is_reported = run.begin("pytest", version, is_part=is_worker)
            self.session = session
            if not hasattr(session, "obj"):
                session.obj = None  # pytest 6 asks a test's parent for its module

        @hookimpl(trylast=True)
        def pytest_collection_modifyitems(self, config: Any, items: Any) -> None:
            only = os.environ.get(_ONLY)
            chosen = [item for item in items if item.nodeid == only]
            others = [item for item in items if item.nodeid != only]
            if chosen and others and self.is_reported:
                config.hook.pytest_deselected(items=others)
                items[:] = chosen

        @hookimpl(trylast=True)
        def pytest_collection_finish(self, session: Any) -> None:
            if self.is_reported:
                run.collected([item.nodeid for item in session.items])

        def pytest_collectreport(self, report: Any) -> None:
            if self.is_reported and report.failed:
                run.result(report.nodeid, "collect", "failed", 0.0, _text_of(report))

        @hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_protocol(self) -> Any:
            if self.is_reported and self.tests % _EVERY == 0:
                self.fly_canaries()
            self.tests += 1
            yield

        @hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_call(self) -> Any:
            outcome = yield
            self.raised = outcome.excinfo is not None

        @hookimpl(tryfirst=True)
        def pytest_runtest_logreport(self, report: Any) -> None:
            if not self.is_reported or _is_from_worker(report):
                return
            outcome = report.outcome
            if hasattr(report, "wasxfail"):
                outcome = "xfailed" if report.skipped else "xpassed"
            raised = self.raised if report.when == "call" else None
            text = _text_of(report) if report.failed else ""
            seconds = getattr(report, "duration", 0.0)
            run.result(report.nodeid, report.when, outcome, seconds, text, raised)

        @hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_sessionfinish(self, session: Any) -> Any:
            if self.is_reported and self.tests:
                self.fly_canaries()
            yield
            if self.is_reported:
                run.end(int(session.exitstatus))

        def fly_canaries(self) -> None:
            fixtures_in_use = self.session._setupstate  # noqa: SLF001
            raised_by_the_test = self.raised
            self.session._setupstate = SetupState()  # noqa: SLF001
            try:
                for name, function, expected in _CANARIES:
                    canary = Canary.from_parent(
                        self.session, name="canary_" + name, callobj=function
                    )
                    reports = runtestprotocol(canary, log=False, nextitem=None)
                    run.canary(name, expected, _worst_outcome(reports))
            finally:
                self.session._setupstate = fixtures_in_use  # noqa: SLF001
                self.raised = raised_by_the_test

    return Plugin()


def _worst_outcome(reports: list[Any]) -> str:
    outcomes = [report.outcome for report in reports]
    if len(outcomes) != 3:  # noqa: PLR2004 - setup, call, teardown
        return "not run"
    return next((word for word in outcomes if word != "passed"), "passed")


def _is_from_worker(report: Any) -> bool:
    """Whether pytest-xdist brought the report from a process that has reported it."""
    return getattr(report, "node", None) is not None


def _text_of(report: Any) -> str:
    try:
        return str(report.longrepr)
    except Exception:  # noqa: BLE001 - a representation of the tree's own making
        return ""


# -- unittest -------------------------------------------------------------------------


class UnittestReporter:
    """Hears what every result of unittest hears, whichever runner made it."""

    def __init__(self, result_class: Any, run: Run) -> None:
        self.result_class = result_class
        self.run = run
        self.is_reported = False
        self.is_in_canary = False
        self.tests = 0
        self.began = 0.0

    def listen(self) -> None:
        """Hook the methods that every runner calls."""
        self._before("startTestRun", self.begin_run)
        self._before("startTest", self.begin_test)
        self._after("stopTestRun", self.end_run)
        self._after("addSuccess", self.outcome("passed"))
        self._after("addFailure", self.outcome("failed"))
        self._after("addError", self.outcome("error"))
        self._after("addSkip", self.outcome("skipped"))
        self._after("addExpectedFailure", self.outcome("xfailed"))
        self._after("addUnexpectedSuccess", self.outcome("xpassed"))
        self._after("addSubTest", self.subtest)

    def _before(self, name: str, hear: Callable[..., None]) -> None:
        original = getattr(self.result_class, name)

        def method(result: Any, *args: Any) -> Any:
            if not self.is_in_canary:
                hear(result, *args)
            return original(result, *args)

        setattr(self.result_class, name, method)

    def _after(self, name: str, hear: Callable[..., None]) -> None:
        original = getattr(self.result_class, name)

        def method(result: Any, *args: Any) -> Any:
            answer = original(result, *args)
            if self.is_reported and not self.is_in_canary:
                hear(result, *args)
            return answer

        setattr(self.result_class, name, method)

    def begin_run(self, _result: Any) -> None:
        """Begin, unless another run is going on."""
        version = sys.version.split()[0]
        if self.run.begin("unittest", version):
            self.is_reported = True

    def begin_test(self, *_: Any) -> None:
        """Start the clock, and send canaries now and then."""
        if not self.is_reported:
            return
        if self.tests % _EVERY == 0:
            self.fly_canaries()
        self.tests += 1
        self.began = time.perf_counter()

    def end_run(self, result: Any) -> None:
        """End with canaries."""
        if self.tests:
            self.fly_canaries()
        self.run.end(0 if result.wasSuccessful() else 1)
        self.is_reported = False

    def outcome(self, word: str) -> Callable[..., None]:
        """Report an outcome."""

        def hear(result: Any, test: Any, error: Any = None, *_: Any) -> None:
            seconds = time.perf_counter() - self.began
            text = ""
            if word in ("failed", "error"):
                text = result._exc_info_to_string(error, test)  # noqa: SLF001
            self.run.result(_unittest_id(test), "call", word, seconds, text)

        return hear

    def subtest(self, result: Any, test: Any, _subtest: Any, error: Any) -> None:
        """Report a part of a test that failed."""
        if error is not None:
            text = result._exc_info_to_string(error, test)  # noqa: SLF001
            self.run.result(_unittest_id(test), "call", "failed", 0.0, text)

    def fly_canaries(self) -> None:
        """Run our own tests by the same class of results."""
        from unittest.case import FunctionTestCase

        self.is_in_canary = True
        try:
            for name, function, expected in _CANARIES:
                result = self.result_class()
                FunctionTestCase(function).run(result)
                self.run.canary(name, expected, _unittest_outcome(result))
        finally:
            self.is_in_canary = False


def _unittest_outcome(result: Any) -> str:
    if result.testsRun != 1:
        return "not run"
    return "failed" if result.failures or result.errors else "passed"


def _unittest_id(test: Any) -> str:
    identify = getattr(test, "id", None)
    return str(identify() if callable(identify) else test)


def hook_unittest_case(module: Any, report: Run) -> None:
    """Run a single test, if only that is to be run; canaries always.

    pytest runs the tests of unittest, too, and chooses them itself.
    """
    only = os.environ.get(_ONLY)
    if not only:
        return
    original = module.TestCase.run
    canaries = [function for _, function, _ in _CANARIES]

    def run(self: Any, result: Any = None) -> Any:
        is_canary = getattr(self, "_testFunc", None) in canaries
        is_chosen_here = report.is_going and report.runner == "unittest"
        if is_chosen_here and not is_canary and self.id() != only:
            return result
        return original(self, result)

    module.TestCase.run = run


# -- which lines are run ----------------------------------------------------------------


class Tracer:
    """Reports each line of certain files when it is first run."""

    def __init__(self, root: str, files: list[str], stream: Stream) -> None:
        self._stream = stream
        self._known: dict[str, str] = {}  # file names as Python has them
        self._wanted = {os.path.join(root, name): name for name in files}  # noqa: PTH118
        self._seen: set[tuple[str, int]] = set()

    def start(self) -> None:
        """Trace this thread, and every other that begins."""
        import threading

        threading.settrace(self.call)
        sys.settrace(self.call)

    def end(self) -> None:
        """Say so if something else has traced the tests instead."""
        if sys.gettrace() != self.call:
            self._stream.emit("untraced")

    def call(self, frame: Any, _event: str, _value: Any) -> Any:
        """Follow the functions of the files that are looked at, and no others."""
        name = frame.f_code.co_filename
        if name not in self._known:
            self._known[name] = self._wanted.get(os.path.realpath(name), "")
        return self.line if self._known[name] else None

    def line(self, frame: Any, event: str, _value: Any) -> Any:
        """Report a line, once."""
        if event == "line":
            seen = (self._known[frame.f_code.co_filename], frame.f_lineno)
            if seen not in self._seen:
                self._seen.add(seen)
                self._stream.emit("line", file=seen[0], line=seen[1])
        return self.line


def trace(run: Run) -> None:
    """Trace the files that are named beside this file, if any are."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    try:
        with open(os.path.join(here, "traced.json"), "rb") as file:  # noqa: PTH118, PTH123
            traced = json.load(file)
    except OSError:
        return
    run.tracer = Tracer(traced["root"], traced["files"], run.stream)
    run.tracer.start()


# -- the hooks ------------------------------------------------------------------------


class AfterImport:
    """Calls a hook as soon as a module was loaded, and is gone when all were."""

    def __init__(self, hooks: dict[str, Callable[[Any], None]]) -> None:
        self._hooks = hooks

    def find_spec(
        self, name: str, path: Any = None, _target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find the module as Python would, and have its loader call the hook."""
        hook = self._hooks.pop(name, None)
        if hook is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            hook(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _load_the_next() -> None:
    """Load the system's own `sitecustomize`, which this file hides."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    others = [place for place in sys.path if os.path.abspath(place) != here]  # noqa: PTH100
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = type(sys)("sitecustomize")
        module.__file__ = spec.origin
        spec.loader.exec_module(module)


def install() -> None:
    """Hook the runners, if there is a file to report to."""
    place = os.environ.get(_FILE)
    if place:
        run = Run(Stream(place))
        trace(run)
        hooks = {
            "_pytest.config": lambda module: hook_pytest(module, run),
            "unittest.result": lambda module: UnittestReporter(
                module.TestResult, run
            ).listen(),
            "unittest.case": lambda module: hook_unittest_case(module, run),
        }
        sys.meta_path.insert(0, AfterImport(hooks))
    _load_the_next()


install()
