"""The templates of `init`: which files each writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_AGENTS: Final = {
    "agents/desk.py": "agents/desk.py.txt",
    "agents/worker.py": "agents/worker.py.txt",
    "agents/reviewer.py": "agents/reviewer.py.txt",
}
TASK: Final = "tasks/5f0c4f0e-6f0a-4d5e-8a43-0c7b6f1f2a11.json"
CI_WORKFLOW: Final = ".github/workflows/accordance.yml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A project to begin with."""

    about: str
    files: Mapping[str, str]
    """What is written where: paths in the project, and the shipped files."""
    plan: str | None = None
    """The plan file, where the template has it."""
    repository: str | None = None
    """The folder that becomes a git repository with a single commit."""


TEMPLATES: Final[Mapping[str, Template]] = {
    "minimal": Template(
        about="three tasks, carried out by small programs",
        files={
            "accordance.toml": "minimal/accordance.toml",
            "plan.yaml": "minimal/plan.yaml",
            **_AGENTS,
        },
        plan="plan.yaml",
    ),
    "code-agent": Template(
        about="a change of a repository, tested and reviewed",
        files={
            "accordance.toml": "code-agent/accordance.toml",
            "plan.yaml": "code-agent/plan.yaml",
            **_AGENTS,
            "agents/coder.py": "agents/coder.py.txt",
            "repository/rounding.py": "code-agent/repository/rounding.py.txt",
            "repository/tests/__init__.py": (
                "code-agent/repository/tests/__init__.py.txt"
            ),
            "repository/tests/test_rounding.py": (
                "code-agent/repository/tests/test_rounding.py.txt"
            ),
        },
        plan="plan.yaml",
        repository="repository",
    ),
    "research": Template(
        about="a question, two sides and a report, as a Markdown checklist",
        files={
            "accordance.toml": "research/accordance.toml",
            "plan.md": "research/plan.md",
            **_AGENTS,
        },
        plan="plan.md",
    ),
    "ci": Template(
        about="a GitHub workflow that judges the pull requests of agents",
        files={
            "accordance.toml": "ci/accordance.toml",
            TASK: "ci/task.json",
            CI_WORKFLOW: "ci/github.yml",
        },
    ),
}
