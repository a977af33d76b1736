"""How a plan marks a node that changes a repository. See `coding_tasks`."""

from __future__ import annotations

from accordance.domain.coding_keys import KEY, TAG

__all__ = ["KEY", "TAG"]
