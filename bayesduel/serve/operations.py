"""Operations: what a request may ask for, checked by a schema and described by OpenAPI.

An operation is a plain function of the pages, the visitor and the body. Its row in the table says
who may call it and what the body holds; the same row makes the route, the check and the document.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from bayesduel import __version__
from bayesduel.system.arguments import shown_value

__all__ = ["Operation", "Refused", "checked_body", "document", "text", "typed"]

TYPES: dict[str, Any] = {
    "string": str, "boolean": bool, "number": (int, float), "integer": int, "array": list,
    "object": dict,
}  # fmt: skip
STATUS = {
    400: "The body does not have the form described here.",
    401: "The token is missing, unknown, expired or revoked.",
    403: "The token belongs to another role, or the request came from another site.",
    404: "The thing asked for does not exist, or it belongs to another judge.",
    409: "The study has changed since: read the state again.",
    413: "The body has more than 65,536 bytes.",
    429: "Too many requests; Retry-After says when to try again.",
}


class Refused(Exception):
    """A request is refused.

    status: HTTP status.
    message: what is wrong, as the visitor may read it.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True)
class Operation:
    """One operation of the API."""

    method: str  # of its route
    path: str
    roles: tuple[str, ...]  # who may call it
    call: Callable[..., Any]  # function of the pages, the visitor and the body
    summary: str  # one sentence
    # JSON schema of each field of the body
    body: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    optional: tuple[str, ...] = ()  # fields that may be left out
    # JSON schema of each field of the result
    result: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def text(longest: int, **more: Any) -> dict[str, Any]:
    """Return the schema of a text of 1 to `longest` characters."""
    return {"type": "string", "minLength": 1, "maxLength": longest, **more}


def checked_body(operation: Operation, raw: bytes, form: bool) -> dict[str, Any]:
    """Return the body of a request.

    raw: as sent.
    form: whether it is a form; JSON otherwise.
    Raises Refused if it is not as the operation describes.
    """
    given = _from_form(raw, operation.body) if form else _from_json(raw)
    for name in given:
        if name not in operation.body:
            known = ", ".join(operation.body) or "none"
            raise Refused(
                400, f"the body should have only the fields {known}, got {shown_value(name)}"
            )
    for name, schema in operation.body.items():
        if name in given:
            _check(given[name], name, schema)
        elif name not in operation.optional:
            raise Refused(400, f"{name} is missing in the body")
    return given


def typed(raw: bytes) -> dict[str, str]:
    """Return the fields of a form as they were typed, to show them again."""
    return dict(parse_qsl(raw.decode("ascii", "replace"), errors="replace"))


def document(operations: Sequence[Operation], title: str, server: str) -> dict[str, Any]:
    """Return the OpenAPI document of the operations."""
    paths: dict[str, Any] = {}
    for o in operations:
        entry: dict[str, Any] = {
            "operationId": o.call.__name__,
            "summary": o.summary,
            "description": f"For the roles {', '.join(o.roles)}.",
            "security": [{"bearer": []}],
            "responses": {"200": {"description": "Done.", **_content(o.result, ())}}
            | {str(status): {"description": words} for status, words in STATUS.items()},
        }
        if o.body:
            entry["requestBody"] = {"required": True, **_content(o.body, o.optional)}
        paths.setdefault(o.path, {})[o.method.lower()] = entry
    return {
        "openapi": "3.1.0",
        "info": {"title": f"bayesduel: {title}", "version": __version__},
        "servers": [{"url": server}],
        "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
        "paths": paths,
    }


def _from_form(raw: bytes, body: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    try:
        pairs = parse_qsl(raw.decode("ascii"), max_num_fields=20, errors="strict")
    except ValueError as error:
        raise Refused(
            400, "the body should be a form (application/x-www-form-urlencoded)"
        ) from error
    given: dict[str, Any] = {name: value.strip() for name, value in pairs}
    for name, schema in body.items():
        value = given.get(name)
        if schema["type"] == "boolean" and value in ("true", "false"):
            given[name] = value == "true"
        if schema["type"] in ("number", "integer") and value is not None:
            if not re.fullmatch(r"\d{1,6}(\.\d{1,6})?", value):
                raise Refused(400, f"{name} should be a number, got {shown_value(value)}")
            given[name] = float(value) if "." in value else int(value)
    return given


def _from_json(raw: bytes) -> dict[str, Any]:
    try:
        given = json.loads(raw or b"{}")
    except (ValueError, RecursionError) as error:
        raise Refused(400, "the body should be JSON") from error
    if not isinstance(given, dict):
        raise Refused(400, f"the body should be a JSON object, got {shown_value(given)}")
    return given


def _check(value: Any, name: str, schema: Mapping[str, Any]) -> None:
    kind = schema["type"]
    if not isinstance(value, TYPES[kind]) or (kind != "boolean" and isinstance(value, bool)):
        raise Refused(400, f"{name} should be a {kind}, got {shown_value(value)}")
    if "enum" in schema and value not in schema["enum"]:
        allowed = ", ".join(schema["enum"])
        raise Refused(400, f"{name} should be one of {allowed}, got {shown_value(value)}")
    if kind == "string":
        least = schema.get("minLength", 0)
        most = schema.get("maxLength", 1000)
        if not least <= len(value) <= most:
            raise Refused(400, f"{name} should have {least} to {most:,} characters")
        if re.search(r"[\x00\ud800-\udfff]", value):
            raise Refused(400, f"{name} should be UTF-8 text, got {shown_value(value)}")
    elif kind == "array":
        if len(value) > schema["maxItems"]:
            raise Refused(400, f"{name} should have at most {schema['maxItems']} entries")
        for each in value:
            _check(each, name, schema["items"])
    elif kind == "object":
        if len(value) > schema["maxProperties"]:
            raise Refused(400, f"{name} should have at most {schema['maxProperties']} entries")
        for each in value.items():
            for part in each:
                _check(part, name, schema["additionalProperties"])
    elif kind in ("number", "integer"):
        least = schema.get("minimum", -1e9)
        most = schema.get("maximum", 1e9)
        if not least <= value <= most:
            raise Refused(400, f"{name} should be in [{least}, {most}], got {shown_value(value)}")


def _content(fields: Mapping[str, Any], optional: Sequence[str]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": dict(fields)}
    required = [name for name in fields if name not in optional]
    if required:
        schema["required"] = required
    return {"content": {"application/json": {"schema": schema}}}
