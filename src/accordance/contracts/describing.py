"""What contracts say about themselves: summary, alias tables, rules in one line.

The pages under docs/ and the output of `accordance contract show` are made from these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from accordance.contracts.comparing import fields_of
from accordance.contracts.contract import Contract, Respell, Rewrite, Rule, Scope
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.normalising import Shape, Spelling

AliasRow: TypeAlias = tuple[str, str, tuple[str, ...]]
"""A path, the canonical form there, and the other forms."""


def summary(contracts: Iterable[Contract[Any]]) -> JsonObject:
    """The contract summary of seed 001: version, required keys and words by scope."""
    scopes: JsonObject = {}
    for contract in contracts:
        for scope in contract.scopes:
            enums = {path: _words(contract, scope, path) for path in scope.enums}
            scopes[scope.name] = {
                "schema_version": contract.version,
                "required_keys": _required_keys(contract),
                "enums": enums,
            }
    return scopes


def _required_keys(contract: Contract[Any]) -> list[str]:
    """The keys a message must have at its top."""
    keys: list[str] = []
    for field in fields_of(contract):
        is_top_level = field.path.count(".") == 1
        if field.required and is_top_level:
            keys.append(field.path.removeprefix("$."))
    return keys


def _words(contract: Contract[Any], scope: Scope, path: str) -> list[object]:
    """The words of an enumeration, as far as a scope leaves them."""
    if path in scope.narrows:
        return list(scope.narrows[path])
    schemas = {field.path: field.schema for field in fields_of(contract)}
    words = schemas[f"$.{path}"]["enum"]
    return list(words) if isinstance(words, list) else []


def alias_rows(contract: Contract[Any]) -> Iterator[AliasRow]:
    """Every declared rewrite of names and words."""
    shape = contract.shape
    if shape.wrappers:
        wrapped = tuple(f"{{{key}: …}}" for key in shape.wrappers)
        yield "$", "(the message itself)", wrapped

    yield from _shape_rows(shape, "$")
    for rewrite in contract.rewrites:
        if isinstance(rewrite, Respell):
            yield from _spelling_rows(f"$.{rewrite.key}", rewrite.spelling)


def _shape_rows(shape: Shape, path: str) -> Iterator[AliasRow]:
    for key, names in shape.renames.items():
        yield path, key, names
    for key, spelling in shape.spellings.items():
        yield from _spelling_rows(f"{path}.{key}", spelling)
    for key, child in shape.objects.items():
        yield from _shape_rows(child, f"{path}.{key}")
    for key, child in shape.lists.items():
        yield from _shape_rows(child, f"{path}.{key}[*]")


def _spelling_rows(path: str, spelling: Spelling) -> Iterator[AliasRow]:
    yield path, " ".join(spelling.words), ("any letter case, white space around",)

    aliases_by_word: dict[str, list[str]] = {}
    for alias, word in spelling.aliases.items():
        aliases_by_word.setdefault(word, []).append(alias)
    for word, aliases in aliases_by_word.items():
        yield path, word, tuple(aliases)


def rule_text(rule: Rule | Rewrite) -> str:
    """A rule in one line: the first line of its docstring."""
    lines = (rule.__doc__ or "").strip().splitlines()
    return lines[0] if lines else ""


def rewrite_texts(contract: Contract[Any]) -> Iterator[tuple[str, str]]:
    """The normalising steps that no table can express, by name, each in one line."""
    for rewrite in (*contract.mends, *contract.rewrites):
        if not isinstance(rewrite, Respell):
            yield rewrite.__name__, rule_text(rewrite)
