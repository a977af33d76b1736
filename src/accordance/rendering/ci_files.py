"""The file that makes a forge judge the changes of agents."""

from __future__ import annotations

from collections.abc import Sequence

from accordance._version import __version__


def ci_file(template: str, *, agents: Sequence[str], tasks: str) -> str:
    """Return a template with this version of accordance, the agents and the tasks."""
    values = {
        "VERSION": __version__,
        "AGENTS": " ".join(agents),
        "TASKS": tasks,
    }
    text = template
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text
