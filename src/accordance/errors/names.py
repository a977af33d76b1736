"""Names that lead nowhere, and the names that may have been meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import ClassVar, Final

from accordance.errors.base import AccordanceError, Category

_MOST_NAMED: Final = 5  # things that an ambiguous name is shown to fit


def nearest(name: str, known: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """Return the known names that look most like `name`, letter case aside."""
    by_folded = {word.casefold(): word for word in known}
    matches = difflib.get_close_matches(name.casefold(), by_folded, n=count, cutoff=0.5)
    return tuple(by_folded[match] for match in matches)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the way out of an unknown name: the nearest names, else all of them."""
    names = tuple(known)
    near = nearest(name, names)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"known: {', '.join(names)}"


class UnknownName(AccordanceError):
    """A name that is not registered. Knows the names that are."""

    code = "unknown-name"
    category = Category.NOT_FOUND
    kind: ClassVar[str] = "name"

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.known = tuple(sorted(known))
        self.near = nearest(name, self.known)
        super().__init__(name, self.known)

    @property
    def text(self) -> str:
        """The name, and what kind of name it is."""
        return f"unknown {self.kind} {self.name!r}"

    @property
    def way_out(self) -> str:
        """The nearest known names, else all of them."""
        return did_you_mean(self.name, self.known)


class UnknownContract(UnknownName):
    """No contract, scope or version of that name."""

    code = "unknown-contract"
    kind = "contract"


class UnknownCode(UnknownName):
    """No violation or warning code of that name."""

    code = "unknown-code"
    kind = "code"


class UnknownProfile(UnknownName):
    """The contract has no profile of that name, or there is no such schema profile."""

    code = "unknown-profile"
    kind = "profile"


class UnknownRole(UnknownName):
    """No role of that name is registered."""

    code = "unknown-role"
    kind = "role"


class UnknownExecutor(UnknownName):
    """No executor of that name is configured."""

    code = "unknown-executor"
    kind = "executor"


class UnknownModel(UnknownName):
    """The executor has no model of that name."""

    code = "unknown-model"
    kind = "model"


class UnknownPrompt(UnknownName):
    """No prompt file of that name."""

    code = "unknown-prompt"
    kind = "prompt"


class UnknownAgent(UnknownName):
    """No research agent of that name."""

    code = "unknown-agent"
    kind = "agent"


class UnknownLabel(UnknownName):
    """No executor and no route asks for a worker with that label."""

    code = "unknown-label"
    kind = "label"

    @property
    def way_out(self) -> str:
        """The labels that are asked for, else how to ask for labels."""
        if self.known:
            return did_you_mean(self.name, self.known)
        return "name it under `labels` of an executor or a route, or leave it out"


class NotFound(UnknownName):
    """No plan, task, question or message of that name."""

    code = "not-found"

    def __init__(self, kind: str, name: str, known: Iterable[str] = ()) -> None:
        super().__init__(name, known)
        self.what = kind

    @property
    def text(self) -> str:
        """What does not exist."""
        return f"no {self.what} {self.name!r}"

    @property
    def way_out(self) -> str:
        """The nearest names, if any is near."""
        if not self.near:
            return ""
        return f"did you mean {' or '.join(self.near)}?"


class AmbiguousName(AccordanceError):
    """A title, or the beginning of a name, that fits several things."""

    code = "ambiguous-name"

    def __init__(self, kind: str, name: str, candidates: Iterable[object]) -> None:
        self.what = kind
        self.name = name
        self.candidates = tuple(str(candidate) for candidate in candidates)
        super().__init__(kind, name, self.candidates)

    @property
    def text(self) -> str:
        """How many things it may mean."""
        return f"{self.name!r} fits {len(self.candidates)} {self.what}s"

    @property
    def way_out(self) -> str:
        """The things it may mean, as far as they fit into a line."""
        named = ", ".join(self.candidates[:_MOST_NAMED])
        others = len(self.candidates) - _MOST_NAMED
        more = f" and {others} more" if others > 0 else ""
        return f"give an id: {named}{more}"


class NoPlan(NotFound):
    """No plan was named, and the ledger has none."""

    code = "no-plan"

    def __init__(self) -> None:
        super().__init__("plan", "")

    @property
    def text(self) -> str:
        """That there is no plan to name."""
        return "there is no plan yet"


class AllArchived(NoPlan):
    """No plan was named, and all plans of the ledger are archived."""

    code = "all-archived"

    @property
    def text(self) -> str:
        """That every plan is in the archive."""
        return "every plan is archived"
