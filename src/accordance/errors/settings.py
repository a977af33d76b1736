"""Errors of accordance.toml: settings, roles, rubrics, fuses, executors and routes."""

from __future__ import annotations

from accordance.errors.base import AccordanceError


class InvalidSettings(AccordanceError):
    """accordance.toml is unreadable, has an unknown key, or is another user's."""

    code = "invalid-settings"


class IsolationTurnedOff(InvalidSettings):
    """accordance.toml asks for less isolation: an agent may have written it."""

    code = "isolation-turned-off"


class InvalidRole(AccordanceError):
    """A role's policy that cannot be read, or has a pattern outside the repository."""

    code = "invalid-role"


class InvalidRubric(AccordanceError):
    """A rubric whose dimensions do not add up."""

    code = "invalid-rubric"


class InvalidFuses(AccordanceError):
    """An unknown fuse, or an invalid limit."""

    code = "invalid-fuses"


class InvalidRouting(AccordanceError):
    """Executors or routes in accordance.toml that could never work."""

    code = "invalid-routing"


class OwnWork(InvalidRouting):
    """The only available reviewer made the product itself."""

    code = "own-work"


class NoExecutor(InvalidRouting):
    """No executor is configured that could do the work."""

    code = "no-executor"


class NotServedHere(NoExecutor):
    """This worker cannot do the work: it lacks a label, a program or a key."""

    code = "not-served-here"

    def __init__(
        self,
        *args: object,
        queue: str,
        fault: str = "",
        way_out: str = "",
    ) -> None:
        super().__init__(*args, way_out=way_out)
        self.queue = queue  # where a worker that can would look for it
        self.fault = fault  # of its executor; empty: it lacks a label


class NoModel(NoExecutor):
    """A model is needed, and none is configured."""

    code = "no-model"
