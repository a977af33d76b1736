"""How a plan marks a node that changes a repository."""

from __future__ import annotations

from typing import Final

TAG: Final = "code"
KEY: Final = "task"
"""The key under which a node carries its task of scc.task.v1."""
