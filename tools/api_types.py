"""Write the TypeScript types of the API from docs/openapi.json, for the dashboard.

`make ui-check` runs this before it checks the dashboard, so it fails if the API changes and
the dashboard does not follow.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
DOCUMENT: Final = ROOT / "docs" / "openapi.json"
TYPES: Final = ROOT / "ui" / "src" / "api" / "schema.gen.ts"
_PLAIN: Final[Mapping[str, str]] = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}
_METHODS: Final = ("get", "post", "put", "patch", "delete")
_JSON: Final = "application/json"
Schema = Mapping[str, Any]


def typescript_of(document: Mapping[str, Any]) -> str:
    """Return the types of an OpenAPI document: its schemas, then its routes."""
    lines = ["// Written by tools/api_types.py from docs/openapi.json.", ""]
    for name, schema in sorted(document["components"]["schemas"].items()):
        lines.append(f"export type {name} = {type_of(schema)};")
        lines.append("")
    for method in ("get", "post"):
        lines.append(f"export interface {method.capitalize()}Routes {{")
        lines.extend(_routes(document["paths"], method))
        lines.extend(["}", ""])
    return "\n".join(lines)


def type_of(schema: Schema) -> str:
    """Return a schema as a type."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    for key, joint in (("anyOf", " | "), ("oneOf", " | "), ("allOf", " & ")):
        if key in schema:
            return f"({joint.join(type_of(part) for part in schema[key])})"
    match schema.get("type"):
        case "array":
            return _array_of(schema)
        case "object":
            return _object_of(schema)
        case str() as plain:
            return _PLAIN[plain]
    return "unknown"


def _array_of(schema: Schema) -> str:
    if "prefixItems" in schema:
        parts = ", ".join(type_of(part) for part in schema["prefixItems"])
        return f"readonly [{parts}]"
    return f"readonly ({type_of(schema.get('items', {}))})[]"


def _object_of(schema: Schema) -> str:
    properties: Schema = schema.get("properties", {})
    required = set(schema.get("required", ()))
    fields = [
        f"readonly {json.dumps(name)}{'' if name in required else '?'}: {type_of(value)}"
        for name, value in properties.items()
    ]
    extra = schema.get("additionalProperties")
    if isinstance(extra, Mapping):
        mapped = f"{{ readonly [key: string]: {type_of(extra)} }}"
        return mapped if not fields else f"{{ {'; '.join(fields)} }}"
    if not fields:
        return "{ readonly [key: string]: unknown }"
    return f"{{ {'; '.join(fields)} }}"


def _routes(paths: Schema, method: str) -> Iterator[str]:
    for path, operations in sorted(paths.items()):
        if method in operations:
            operation = operations[method]
            query = _query_of(operation)
            body = _body_of(operation)
            answer = _answer_of(operation)
            yield (
                f"  {json.dumps(path)}: {{ query: {query}; body: {body};"
                f" answer: {answer} }};"
            )


def _query_of(operation: Schema) -> str:
    fields = [
        f"{json.dumps(parameter['name'])}{'' if parameter.get('required') else '?'}:"
        f" {type_of(parameter['schema'])} | undefined"
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query"
    ]
    return f"{{ {'; '.join(fields)} }}" if fields else "{}"


def _body_of(operation: Schema) -> str:
    body = operation.get("requestBody")
    if body is None:
        return "undefined"
    content: Schema = body["content"]
    if set(content) != {_JSON} or not content[_JSON].get("schema"):
        return "BodyInit"
    wanted = type_of(content[_JSON]["schema"])
    return wanted if body.get("required") else f"{wanted} | undefined"


def _answer_of(operation: Schema) -> str:
    for status, response in sorted(operation["responses"].items()):
        if status.startswith("2"):
            content: Schema = response.get("content", {})
            if _JSON in content:
                return type_of(content[_JSON].get("schema", {}))
            return "string" if content else "undefined"
    return "undefined"


def main() -> None:
    """Write the types where the dashboard reads them."""
    document = json.loads(DOCUMENT.read_text())
    text = typescript_of(document)
    if not TYPES.is_file() or TYPES.read_text() != text:
        TYPES.parent.mkdir(parents=True, exist_ok=True)
        TYPES.write_text(text)


if __name__ == "__main__":
    main()
