"""The shop window: exactly what was declared, documented, and typed."""

from __future__ import annotations

import ast
import importlib.metadata
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest

import accordance
from accordance import Contract, Registry
from accordance.contracts.codes import CODES, explain
from accordance.contracts.describing import alias_rows, rewrite_texts, rule_text
from accordance.errors import InvalidContract, UnknownCode
from accordance.plugins import GROUP, installed_contracts
from tests.unit.contracts.test_contracts import GREETING, Greeting

SOURCE = Path(accordance.__file__).parent
PURE = [
    *(SOURCE / "errors").rglob("*.py"),
    *(SOURCE / "contracts").rglob("*.py"),
    *(SOURCE / "domain").rglob("*.py"),
    *(SOURCE / "rendering").rglob("*.py"),
]


def test_every_public_name_is_there_and_documented() -> None:
    """`__all__` is sorted and true; every name has a docstring or, for values, a documented type."""
    assert accordance.__all__ == sorted(accordance.__all__)
    for name in accordance.__all__:
        thing = getattr(accordance, name)
        assert thing.__doc__, name
        assert not isinstance(thing, ModuleType)
    assert set(accordance.__all__) <= set(dir(accordance))
    with pytest.raises(AttributeError, match="no attribute 'chek'"):
        _ = accordance.chek


def test_the_core_touches_nothing() -> None:
    """No file is opened and no clock is read in the pure layers; import-linter watches the imports."""
    for path in PURE:
        for found in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(found, ast.Call):
                name = ast.unparse(found.func)
                assert name not in ("open", "print", "input", "eval", "exec"), (
                    f"{path}:{found.lineno}"
                )
                assert not name.endswith((".now", ".today", ".utcnow")), (
                    f"{path}:{found.lineno}"
                )


def test_every_code_that_is_used_has_a_page() -> None:
    """A violation or warning whose code nobody could look up would be a riddle."""
    used = {
        argument.value
        for path in PURE
        for found in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(found, ast.Call)
        and ast.unparse(found.func)
        in ("Violation", "Notice", "Unparseable", "self._doom", "self.refuse")
        for argument in found.args[:1]
        if isinstance(argument, ast.Constant)
    }
    assert used <= CODES.keys()
    assert len(used) > 50
    assert explain(" CYCLE ").code == "cycle"
    with pytest.raises(UnknownCode):
        explain("nothing")


def test_every_contract_describes_itself() -> None:
    """Rules have a first line, rewrites too, and the tables can be told."""
    for contract in accordance.registry:
        assert contract.about
        for name in contract.names:
            assert all(rule_text(rule) for rule in accordance.registry.get(name).rules)
        assert all(text for _, text in rewrite_texts(contract))
        assert all(names for _, _, names in alias_rows(contract))
    assert rule_text(lambda _message, _context: ()) == ""


class Entry:
    """An entry point as the system gives it."""

    name, value = "test", "package:thing"

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def load(self) -> object:
        return self.thing


@Registry().contract("parting_v1")
class Parting(Greeting):
    """A model that carries its contract."""

    schema_version: Literal["parting_v1"]  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("thing", "versions"),
    [
        (GREETING, ["greeting_v1"]),
        ([GREETING, Parting], ["greeting_v1", "parting_v1"]),
        (Parting, ["parting_v1"]),
    ],
)
def test_installed_packages_bring_contracts(
    monkeypatch: pytest.MonkeyPatch, thing: object, versions: list[str]
) -> None:
    """A Contract, a model, or a list of these."""
    monkeypatch.setattr(
        "accordance.plugins.entry_points",
        lambda group: [Entry(thing)] if group == GROUP else [],
    )
    assert [contract.version for contract in installed_contracts()] == versions
    assert Registry(discover=installed_contracts).versions() == tuple(sorted(versions))


def test_what_is_no_contract_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package at fault is in the message."""
    monkeypatch.setattr("accordance.plugins.entry_points", lambda group: [Entry(7)])  # noqa: ARG005
    with pytest.raises(InvalidContract, match="test = package:thing is neither"):
        list(installed_contracts())


def test_the_distribution() -> None:
    """Light: four dependencies, typed, with its command."""
    assert importlib.metadata.version("accordance") == accordance.__version__
    requirements = importlib.metadata.requires("accordance") or ()
    needed = {
        one.split(">")[0].split(";")[0].strip()
        for one in requirements
        if "extra ==" not in one
    }
    assert needed == {"click", "jiter", "pydantic", "rich"}
    assert (SOURCE / "py.typed").exists()


def test_contracts_compare_by_identity() -> None:
    """Two definitions are never the same contract, whatever they say."""
    assert Contract(version="greeting_v1", model=Greeting) != Contract(
        version="greeting_v1", model=Greeting
    )
