"""What contracts say of themselves: the machine-readable summary of seed 001, alias tables, rules in a line.

The pages under docs/ and the output of `accordance contract show` are made from these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from accordance.contracts.comparing import fields_of
from accordance.contracts.contract import Contract, Respell, Rewrite, Rule, Scope
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.normalising import Shape, Spelling


def summary(contracts: Iterable[Contract[Any]]) -> JsonObject:
    """The contract summary of seed 001: per scope the version, required keys and enumerations."""
    return {
        scope.name: {
            "schema_version": contract.version,
            "required_keys": _required_keys(contract),
            "enums": {path: _words(contract, scope, path) for path in scope.enums},
        }
        for contract in contracts
        for scope in contract.scopes
    }


def _required_keys(contract: Contract[Any]) -> list[str]:
    fields = fields_of(contract)
    return [
        one.path.removeprefix("$.")
        for one in fields
        if one.required and one.path.count(".") == 1
    ]


def _words(contract: Contract[Any], scope: Scope, path: str) -> list[object]:
    if path in scope.narrows:
        return list(scope.narrows[path])
    words = next(
        one.schema["enum"] for one in fields_of(contract) if one.path == f"$.{path}"
    )
    return list(words) if isinstance(words, list) else []


def alias_rows(contract: Contract[Any]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every declared rewrite of names and words: where, the canonical form, the others."""
    shape = contract.shape
    if shape.wrappers:
        yield (
            "$",
            "(the message itself)",
            tuple(f"{{{key}: …}}" for key in shape.wrappers),
        )
    yield from _shape_rows(shape, "$")
    for rewrite in contract.rewrites:
        if isinstance(rewrite, Respell):
            yield from _spelling_rows(f"$.{rewrite.key}", rewrite.spelling)


def _shape_rows(shape: Shape, path: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for key, names in shape.renames.items():
        yield path, key, names
    for key, spelling in shape.spellings.items():
        yield from _spelling_rows(f"{path}.{key}", spelling)
    for key, child in shape.objects.items():
        yield from _shape_rows(child, f"{path}.{key}")
    for key, child in shape.lists.items():
        yield from _shape_rows(child, f"{path}.{key}[*]")


def _spelling_rows(
    path: str, spelling: Spelling
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    yield path, " ".join(spelling.words), ("any letter case, white space around",)
    for word in dict.fromkeys(spelling.aliases.values()):
        yield (
            path,
            word,
            tuple(alias for alias, meant in spelling.aliases.items() if meant == word),
        )


def rule_text(rule: Rule | Rewrite) -> str:
    """A rule in one line: its own first line."""
    return (rule.__doc__ or "").strip().splitlines()[0] if rule.__doc__ else ""


def rewrite_texts(contract: Contract[Any]) -> Iterator[tuple[str, str]]:
    """The normalising steps that a table cannot say."""
    for rewrite in (*contract.mends, *contract.rewrites):
        if not isinstance(rewrite, Respell):
            yield rewrite.__name__, rule_text(rewrite)
