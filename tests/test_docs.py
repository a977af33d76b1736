"""Documentation runs, or is generated, or is compared."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from pytest_examples import CodeExample, EvalExample, find_examples
from tools.make_docs import DOCS, END, GENERATED, START

from accordance import check
from accordance.cli.main import COMMANDS, app
from accordance.executors.prompt_files import PromptFiles
from accordance.project.settings import read_settings
from tests.settings import routing_from
from tests.unit.contracts.test_schemas import seed_summary

ROOT = DOCS.parent


def python_examples() -> list[CodeExample]:
    """Every Python block, but for those that are files: `test_walkthrough` runs these."""
    examples = find_examples(str(ROOT / "README.md"), str(DOCS))
    return [each for each in examples if "title" not in each.prefix_settings()]


@pytest.mark.usefixtures("registry_as_it_was")
@pytest.mark.parametrize("example", python_examples(), ids=str)
def test_python_examples_run(example: CodeExample, eval_example: EvalExample) -> None:
    """Every Python block prints what the page says it prints."""
    if eval_example.update_examples:
        eval_example.run_print_update(example)
    else:
        eval_example.run_print_check(example)


@pytest.mark.parametrize("name", GENERATED)
def test_generated_pages_are_up_to_date(name: str) -> None:
    """`make docs` writes them; nobody edits them."""
    assert (DOCS / name).read_text(encoding="utf-8") == GENERATED[name](), (
        "run make docs"
    )


def test_the_page_of_commands_depends_on_no_earlier_call() -> None:
    """Click keeps the help option of a command, with the names that its first caller gave it."""
    group = app.get_command(click.Context(app), "worker")
    assert group is not None
    group._help_option = None
    group.get_help(click.Context(group))  # knows only --help
    assert GENERATED["cli.md"]() == (DOCS / "cli.md").read_text(encoding="utf-8")


@pytest.mark.seed("001-2")
def test_the_summary_between_its_markers() -> None:
    """docs/contracts.md holds the machine-readable summary of seed 001, word for word."""
    text = (DOCS / "contracts.md").read_text(encoding="utf-8")
    assert (
        json.loads(text[text.index(START) + len(START) : text.index(END)])
        == seed_summary()
    )


def test_the_readme_names_the_two_commands_and_every_command() -> None:
    """What exists is mentioned."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make run" in text
    assert "make test" in text
    for name in COMMANDS:
        assert f"accordance {name}" in text


@pytest.mark.parametrize("page", ["runtime.md", "executors.md"])
def test_settings_in_the_pages_are_taken(page: str) -> None:
    """Every TOML block could be an accordance.toml: its executors, routes, fuses and bounds are known."""
    blocks = re.findall(
        r"```toml\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL
    )
    assert blocks
    for block in blocks:
        tables = tomllib.loads(block)
        known = routing_from(tables, prompts=PromptFiles(ROOT).names()).executors
        assert known.keys() == tables.get("executors", {}).keys()


PAGES_WITH_SETTINGS = (
    "changes.md",
    "executors.md",
    "gateway.md",
    "plans.md",
    "runtime.md",
    "server.md",
    "settings.md",
    "how-to/let-a-coding-agent-change-a-repository.md",
    "how-to/use-postgresql-and-more-workers.md",
)


@pytest.mark.parametrize("page", PAGES_WITH_SETTINGS)
def test_every_table_in_the_pages_is_a_setting(page: str) -> None:
    """Each TOML block is read as an accordance.toml, and every key of it is taken over."""
    blocks = re.findall(
        r"```toml\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL
    )
    assert blocks
    for block in blocks:
        tables = tomllib.loads(block)
        assert read_settings(tables).model_fields_set == tables.keys()


def messages_in(page: str) -> list[object]:
    """Every message in the JSON blocks of a page; a block may hold several."""
    text = (DOCS / page).read_text(encoding="utf-8")
    messages = []
    for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL):
        for message in block.strip().split("\n\n"):
            messages.append(json.loads(message))
    return messages


def test_the_messages_of_the_protocol_honour_their_contracts() -> None:
    """What the page shows to authors of executors would be accepted."""
    messages = messages_in("executor-protocol.md")
    assert len(messages) == 3
    for message in messages:
        assert check(json.dumps(message)), message


LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#]*)(?:#([^)]+))?\)")


def anchors_of(page: Path) -> set[str]:
    """The places of a page that a link can name: its headings, as GitHub spells them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.replace(" ", "-") for heading in plain}


PAGES = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "examples").rglob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Relative links point to files that exist, and to headings that these have."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target, anchor in LINK.findall(text):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        if anchor and linked.suffix == ".md":
            assert anchor in anchors_of(linked), f"{target}#{anchor}"


def test_the_index_names_every_page() -> None:
    """docs/README.md is where a reader finds everything; decisions have their own."""
    text = (DOCS / "README.md").read_text(encoding="utf-8")
    named = {(DOCS / target).resolve() for target, _ in LINK.findall(text)}
    pages = {page for page in DOCS.rglob("*.md") if page.parent.name != "decisions"}
    assert pages - {DOCS / "README.md"} <= named


def test_make_docs_writes_the_pages(tmp_path: Path) -> None:
    """The tool itself runs, and writes what is committed."""
    subprocess.run(
        [sys.executable, "-m", "tools.make_docs", tmp_path],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in GENERATED:
        assert (tmp_path / name).read_bytes() == (DOCS / name).read_bytes()
