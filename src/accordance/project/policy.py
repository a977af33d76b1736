"""What accordance.toml says about judging: roles, model tiers, and how tests are run. Unknown names are errors.

    [roles.engineer]
    max_attempts = 3
    write = { allow_paths = ["src/**", "tests/**"] }

    [tiers]                      # 1 is the strongest
    "our-large-model" = 1

    [judge]
    isolation = "auto"           # at least this: auto, bubblewrap, landlock; only --isolation asks for less
    tests = ["make test"]        # for tasks that name no tests of their own
    max_attempts = 3
    repeat_threshold = 2
    seconds = 600                # for each test command
    memory_mb = 8192
    readable = ["/srv/models"]   # folders the tests may read beside the system's
    carry = ["node_modules"]     # ignored folders of the tree that the tests need
    environment = { DJANGO_SETTINGS_MODULE = "app.settings" }

The settings are read from the base: what an agent writes into its tree does not change the rules it is judged by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from accordance.domain.attempts import MAX_ATTEMPTS, SAME_ERROR_LIMIT
from accordance.domain.escalation import MODEL_TIERS
from accordance.domain.roles import ROLES, Role, roles_from
from accordance.errors import InvalidSettings, did_you_mean
from accordance.workspace.isolation import Limits
from accordance.workspace.probing import AUTO, WISHES

SETTINGS: Final = "accordance.toml"
LEVELS: Final[Mapping[str, str]] = MappingProxyType(
    {"bubblewrap": "bwrap", **{wish: wish for wish in WISHES}}
)
"""The levels of isolation as people write them, and as they are called inside."""
RLIMIT: Final = "rlimit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """By which rules attempts are judged, and how their tests are run."""

    roles: Mapping[str, Role] = field(default_factory=lambda: ROLES)
    tiers: Mapping[str, int] = field(default_factory=lambda: MODEL_TIERS)
    isolation: str = AUTO
    max_attempts: int = MAX_ATTEMPTS
    repeat_threshold: int = SAME_ERROR_LIMIT
    tests: tuple[str, ...] = ()  # for tasks that name none
    limits: Limits = field(default_factory=Limits)
    readable: tuple[Path, ...] = ()
    carry: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def gateway_of(settings: Mapping[str, Any], root: Path) -> Gateway:
    """The gateway these settings describe; paths are relative to `root`. Raises InvalidSettings, InvalidRole."""
    tiers = _table(settings, "tiers")
    for model, tier in tiers.items():
        _count(tier, f"tiers.{model}")
    gateway = Gateway(roles=roles_from(_table(settings, "roles")), tiers={**MODEL_TIERS, **tiers})
    for key, value in _table(settings, "judge").items():
        if key not in _READERS:
            raise InvalidSettings(
                f"{SETTINGS}: [judge] has no key {key!r}; {did_you_mean(key, sorted(_READERS))}"
            )
        gateway = _READERS[key](gateway, value, root)
    return gateway


def with_isolation(gateway: Gateway, wish: object) -> Gateway:
    """The same gateway with another level of isolation. Raises InvalidSettings."""
    if wish not in LEVELS:
        raise InvalidSettings(f"isolation is one of {', '.join(LEVELS)}, got {wish!r}")
    return replace(gateway, isolation=LEVELS[str(wish)])


def _at_least(gateway: Gateway, wish: object) -> Gateway:
    """A file can ask for more isolation and never for less: it may have been written by whom it is to hold back."""
    wished = with_isolation(gateway, wish)
    if wished.isolation == RLIMIT:
        raise InvalidSettings(
            f"{SETTINGS}: judge.isolation: a file cannot turn isolation off; a person can, with --isolation {RLIMIT}"
        )
    return wished if wished.isolation == LEVELS["bubblewrap"] else replace(gateway, isolation=AUTO)


def _table(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = settings.get(name, {})
    if not isinstance(found, Mapping):
        raise InvalidSettings(f"{SETTINGS}: [{name}] is a table")
    return found


def _readable(gateway: Gateway, value: object, root: Path) -> Gateway:
    return replace(gateway, readable=tuple(root / one for one in _texts(value, "judge.readable")))


def _environment(gateway: Gateway, value: object, _: Path) -> Gateway:
    if not isinstance(value, Mapping):
        raise InvalidSettings(f"{SETTINGS}: judge.environment is a table")
    _texts(list(value.values()), "judge.environment")
    return replace(gateway, environment=dict(value))


_READERS: Final[Mapping[str, Callable[[Gateway, Any, Path], Gateway]]] = MappingProxyType(
    {
        "isolation": lambda now, value, _: _at_least(now, value),
        "tests": lambda now, value, _: replace(now, tests=_commands(value)),
        "max_attempts": lambda now, value, _: replace(now, max_attempts=_count(value, "judge.max_attempts")),
        "repeat_threshold": lambda now, value, _: replace(
            now, repeat_threshold=_count(value, "judge.repeat_threshold")
        ),
        "seconds": lambda now, value, _: replace(
            now, limits=replace(now.limits, seconds=_count(value, "judge.seconds"))
        ),
        "memory_mb": lambda now, value, _: replace(
            now, limits=replace(now.limits, memory_bytes=_count(value, "judge.memory_mb") << 20)
        ),
        "readable": _readable,
        "carry": lambda now, value, _: replace(now, carry=_texts(value, "judge.carry")),
        "environment": _environment,
    }
)


def _commands(value: object) -> tuple[str, ...]:
    commands = _texts(value, "judge.tests")
    if not all(command.strip() for command in commands):
        raise InvalidSettings(f"{SETTINGS}: judge.tests holds commands, got an empty text")
    return commands


def _count(value: object, where: str) -> int:
    if type(value) is not int or value < 1:
        raise InvalidSettings(f"{SETTINGS}: {where} is a whole number of at least 1, got {value!r}")
    return value


def _texts(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise InvalidSettings(f"{SETTINGS}: {where} holds texts, got {value!r}")
    return tuple(value)
