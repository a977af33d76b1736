"""The constitution: what no task, role or setting can permit.

It has a single article that can be broken without any other gate seeing it. An agent
works in a clone; the repository itself is not its to change. Programs that git runs
there, such as hooks, would act with the user's own rights on the next commit, on work
that was never judged. So an agent that adds a program has gone around the gate.

A sandbox keeps agents out of the repository. An agent that ran in a sandbox is not
blamed: then another person, such as the user, has added the program. A model on a
provider's machine runs nothing here at all.
"""

from __future__ import annotations

from collections.abc import Sequence

from accordance.domain.case import Breach
from accordance.domain.facts import IsolationLevel
from accordance.domain.findings import listed


def constitution_breaches(
    programs_added: Sequence[str], isolation: str | None
) -> tuple[Breach, ...]:
    """Return the breach of an agent that made git run programs in the repository.

    `isolation` is the level the agent ran at; None is an executor that runs nothing.
    """
    if not programs_added or isolation is None:
        return ()
    if IsolationLevel(isolation).confines:
        return ()
    text = (
        "while the agent ran, the repository itself gained programs that git would run:"
        f" {listed(programs_added)}; remove them before you use git there"
    )
    return (Breach("CONSTITUTION_VIOLATION", text),)
