"""`accordance research`: agents, their answers, their handoffs, their runs."""

from __future__ import annotations

import click

from accordance.cli import (
    research_agents,
    research_answers,
    research_golden,
    research_handoffs,
    research_runs,
)


@click.group(name="research")
def command() -> None:
    """Choose research agents, check their answers, and notice when they collapse.

    Agents come with accordance or from your own file (--agents FILE). Messages are
    files; - is standard input.
    """


for module in (
    research_agents,
    research_answers,
    research_handoffs,
    research_runs,
    research_golden,
):
    for subcommand in module.COMMANDS:
        command.add_command(subcommand)
