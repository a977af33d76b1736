"""What a person writes, and what they are told when it is no plan: a line, a reason, a way out."""

from __future__ import annotations

import pytest

from accordance.domain.short_plans.file_names import ShortFormat, format_of
from accordance.domain.short_plans.formats import LARGEST, compile_file, read_short_plan
from accordance.errors import InvalidPlanFile

HEAD = "title: T\ntasks:\n"


def error_of(text: str, form: ShortFormat = "yaml") -> str:
    """The error of a plan file, as a person reads it."""
    with pytest.raises(InvalidPlanFile) as caught:
        compile_file(text.encode(), form)
    return str(caught.value)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        pytest.param("yaml", f"{HEAD}  - A\n  - title: B\n    needs: a\n", id="YAML"),
        pytest.param(
            "toml",
            'title = "T"\n[[tasks]]\ntitle = "A"\n[[tasks]]\ntitle = "B"\nneeds = ["a"]\n',
            id="TOML",
        ),
        pytest.param("md", "# T\n\n- [ ] A\n- [ ] B\n  - needs: a\n", id="Markdown"),
    ],
)
def test_the_same_plan_in_three_formats(form: ShortFormat, text: str) -> None:
    """Two tasks, of which the second needs the first, whatever the letter case."""
    document = compile_file(text.encode(), form).document
    assert (
        document
        == compile_file(
            f"{HEAD}- A\n- title: B\n  needs: A\n".encode(), "yaml"
        ).document
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        pytest.param("", "the file is empty; write a title and a list of tasks", id="an empty file"),
        pytest.param("# nothing\n", "the file is empty; write a title and a list of tasks", id="a file with a comment only"),
        pytest.param("- A\n", "line 1: this is no plan; begin with title: and tasks:", id="a list alone"),
        pytest.param("tasks: [A]\n", "line 1: the plan has no title; add title: and a text", id="no title"),
        pytest.param("title: T\n", "line 1: the plan has no tasks; list them under tasks", id="no tasks"),
        pytest.param("title: T\ntasks: A\n", "line 2: tasks must be a list of tasks, got 'A'", id="tasks that are a text"),
        pytest.param("title: T\ntask: [A]\n", "line 2: a plan has no key 'task'; did you mean tasks?", id="an unknown key of the plan"),
        pytest.param(f"{HEAD}  - title: A\n    need: B\n", "line 4: a task has no key 'need'; did you mean needs or read?", id="an unknown key of a task"),
        pytest.param(f"{HEAD}  - title: A\n   needs: B\n", "line 4: the indentation does not fit the lines above; align the keys of a task in the same column, with spaces", id="a wrong indent"),
        pytest.param(f"{HEAD}  - title: A\n\tneeds: B\n", "line 4: a tab cannot indent YAML; use spaces", id="a tab"),
        pytest.param(f"{HEAD}  - title: A: B\n", "line 3: a colon where no key can be; put the text in quotes, or mend the indentation", id="a colon in a bare text"),
        pytest.param(f"{HEAD}  - title: A\n    needs\n    goal: B\n", "line 5: a key without its colon, or wrong indentation; write key: value, aligned with the keys above", id="a key without its colon"),
        pytest.param("title: T\ntasks: [A\n", "line 3: not YAML: expected ',' or ']', but got '<stream end>'", id="a bracket left open"),
        pytest.param("title: \x07\n", "not YAML: unacceptable character #x0007: special characters are not allowed", id="a control character"),
        pytest.param("title: T\ntitle: U\ntasks: [A]\n", "line 2: the key 'title' appears twice (lines 1 and 2); keep one of them", id="a key twice"),
        pytest.param("title: &a T\ntasks: [A]\n", "line 1: the anchor &a is not read; write it out", id="an anchor"),
        pytest.param("title: *a\n", "line 1: the alias *a is not read; write it out", id="an alias"),
        pytest.param("title: !!python/name:os.system x\n", "line 1: the tag tag:yaml.org,2002:python/name:os.system is not read; write it out", id="a tag"),
        pytest.param("title: T\ntasks: [A]\n---\ntitle: U\n", "line 3: a second document begins; a file holds a single plan", id="two documents"),
        pytest.param("? [a]\n: b\n", "line 1: a key must be a word", id="a key that is a list"),
        pytest.param("title: " + "[" * 70, "line 1: nested too deeply; at most 64 levels are read", id="brackets without end"),
        pytest.param(f"{HEAD}  - goal: A\n", "line 3: a task has no title; add title: and a text", id="a task without a title"),
        pytest.param(f"{HEAD}  - [A]\n", "line 3: a task must be a title or a table of keys, got a list", id="a task that is a list"),
        pytest.param(f"{HEAD}  -\n", "line 3: a task must be a text, got nothing", id="a task that is nothing"),
        pytest.param(f"{HEAD}  - title: A\n    needs: {{B: C}}\n", "line 4: needs must be a text or a list of texts, got a table of keys", id="needs that are a table"),
        pytest.param(f"{HEAD}  - A\n  - B\n  - a!\n", "line 5: two tasks are titled 'a!' (lines 3 and 5); give either of them an id", id="two tasks of one title"),
        pytest.param(f"{HEAD}  - {{title: A, id: x}}\n  - {{title: B, id: x}}\n", "line 4: two tasks have the id 'x' (lines 3 and 4); an id names a single task", id="two tasks of one id"),
        pytest.param(f"{HEAD}  - Collect prices\n  - title: B\n    needs: Colect prices\n", "line 5: needs 'Colect prices', but no task has that title or id; did you mean Collect prices?", id="a misspelt need"),
        pytest.param(f"{HEAD}  - {{title: A, id: x}}\n  - A\n  - {{title: B, needs: A}}\n", "line 5: needs 'A', which is the title of several tasks (lines 3 and 4); name the task by its id", id="a need that could be two"),
        pytest.param(f"{HEAD}  - {{title: A, needs: C}}\n  - {{title: B, needs: A}}\n  - {{title: C, needs: B}}\n", "line 4: tasks wait for each other: 'A' needs 'C' needs 'B' needs 'A'; remove one of these needs", id="a circle"),
        pytest.param(f"{HEAD}  - {{title: A, needs: A}}\n", "line 3: tasks wait for each other: 'A' needs 'A'; remove one of these needs", id="a task that needs itself"),
        pytest.param(f"{HEAD}  - title: A\n    tests: make\n", "line 4: tests means nothing for 'A', which changes no code; name the paths it may change with allowed:, or remove it", id="tests of a task without pins"),
        pytest.param(f"{HEAD}  - title: A\n    priority: 010\n", "line 4: priority must be a whole number, got '010'", id="an octal number"),
        pytest.param(f"{HEAD}  - title: A\n    priority: [1]\n", "line 4: priority must be a whole number, got a list", id="a list for a number"),
        pytest.param(f"{HEAD}  - title: A\n    timeout: soon\n", "line 4: timeout must be a duration such as 90s, 10m or 2h, got 'soon'", id="a word for a duration"),
        pytest.param(f"{HEAD}  - title: A\n    timeout: 0\n", "line 4: timeout must be a duration such as 90s, 10m or 2h, got '0'", id="no time at all"),
        pytest.param(f"{HEAD}  - title: A\n    timeout: [1]\n", "line 4: timeout must be a duration such as 90s, 10m or 2h, got a list", id="a list for a duration"),
        pytest.param(f"{HEAD}  - title: A\n    combine: NOT\n", "line 4: combine must be AND or OR, got 'NOT'", id="an unknown word"),
        pytest.param(f"{HEAD}  - title: A\n    check: [B]\n", "line 4: check must be true, a title or a table of keys, got a list", id="a check that is a list"),
        pytest.param(f"{HEAD}  - title: A\n    check: {{parts: []}}\n", "line 4: a check has no key 'parts'; did you mean inputs?", id="a check with parts"),
        pytest.param(f"{HEAD}  - title: A\n    inputs: [[x]]\n", "line 4: an input must be a name or a table of keys, got a list", id="an input that is a list"),
        pytest.param(f"{HEAD}  - title: A\n    inputs: [{{kind: FILE}}]\n", "line 4: an input has no name; add name: and a text", id="an input without a name"),
        pytest.param(f"{HEAD}  - title: A\n    inputs: [{{name: x, required: yes}}]\n", "line 4: required must be true or false, got 'yes'", id="yes is no flag"),
        pytest.param(f"{HEAD}  - title: A\n    inputs: [{{name: x, required: []}}]\n", "line 4: required must be true or false, got a list", id="a list for a flag"),
        pytest.param(f"{HEAD}  - title: A\n    inputs:\n      - x\n      - X\n", "line 6: 'A' has two inputs 'X' (lines 5 and 6); give them different names", id="two inputs of one name"),
        pytest.param(f"{HEAD}  - title: A\n    further: [x]\n", "line 4: further must be a table of keys, got a list", id="further keys that are a list"),
        pytest.param(f"{HEAD}  - title: A\n    further: {{priority: 3}}\n", "line 4: further: 'priority' of 'A' is set by a key of its own; use that key instead", id="a further key that has a key of its own"),
        pytest.param(f"{HEAD}  - title: A\n    allowed: src\n    code: {{pins: {{}}}}\n", "line 5: code: 'pins' of 'A' is set by a key of its own; use that key instead", id="a key of the change that has a key of its own"),
        pytest.param("title: T\nroot: x\ntasks: [A]\n", "line 2: root must be a table of keys, got 'x'", id="a root that is a text"),
        pytest.param("title: T\nroot: {needs: A}\ntasks: [A]\n", "line 2: root has no key 'needs'; known: id, title, type, role, priority, tags, accept, deliver, inputs, timeout, further", id="a root that needs something"),
        pytest.param(f"title: {'x' * 90}: y\n", "line 1: a colon where no key can be; put the text in quotes, or mend the indentation", id="a long line"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_yaml(text: str, error: str) -> None:
    """One line, with the number of the line and the way out."""
    assert error_of(text) == error


@pytest.mark.parametrize(
    ("text", "error"),
    [
        pytest.param("", "the file is empty; write a title and a list of tasks", id="an empty file"),
        pytest.param("title = \n", "line 1: not TOML: invalid value", id="no value"),
        pytest.param('a = "1"\na = "2"\n', "line 2: not TOML: cannot overwrite a value", id="a key twice"),
        pytest.param("title = " + "[" * 5000, "not TOML: nested too deeply; at most 64 levels are read", id="brackets without end"),
        pytest.param('title = "T"\n# [x]\n[[tasks]]\ntitle = "A"\nneed = "B"\n', "line 5: a task has no key 'need'; did you mean needs or read?", id="an unknown key"),
        pytest.param('title = "T"\n[[tasks]]\ntitle = "A"\n[[tasks.parts]]\ntitle = "B"\n[[tasks]]\ntitle = "C"\n[[tasks.parts]]\ntitle = "D"\npriority = "x"\n', "line 10: priority must be a whole number, got 'x'", id="a key of a part"),
        pytest.param('title = """\n[x]\npriority = 1\n"""\ntasks = [\n  "A", # [\n  "]",\n]\nx = 1\n', "line 9: a plan has no key 'x'; known: title, id, goal, why, owner, created, combine, constraints, root, tasks", id="a key behind a long text and a list"),
        pytest.param('title = """T"""\n[[tasks]]\ntitle = "A"\nneed = "B"\n', "line 4: a task has no key 'need'; did you mean needs or read?", id="a key behind a long text of a single line"),
        pytest.param('title = 5\ntasks = ["A"]\n', "line 1: title must be a text, got 5", id="a number for a text"),
        pytest.param('title = "T"\n[[tasks]]\ntitle = "A"\npriority = true\n', "line 4: priority must be a whole number, got true", id="a flag for a number"),
        pytest.param('title = "T"\n[[tasks]]\ntitle = "A"\ntimeout = true\n', "line 4: timeout must be a duration such as 90s, 10m or 2h, got true", id="a flag for a duration"),
        pytest.param('title = "T"\n[constraints]\n[constraints."a b"]\nx = 1\n[[tasks]]\ntitle = ""\n', "line 6: title must be a text, got ''", id="a text with nothing in it"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_toml(text: str, error: str) -> None:
    """The lines are those of the file, though TOML's parser does not tell them."""
    assert error_of(text, "toml") == error


@pytest.mark.parametrize(
    ("text", "error"),
    [
        pytest.param("\n \n", "the file is empty; write a title and a list of tasks", id="an empty file"),
        pytest.param("# T\n\nOnly prose.\n", "line 1: the plan has no tasks; list them under tasks", id="prose only"),
        pytest.param("- [ ] A\n", "line 1: the plan has no title; add title: and a text", id="no heading"),
        pytest.param("# T\n\n- [ ] A\n  - [ ] B\n - [ ] C\n", "line 5: the indentation does not fit the items above; align the items of a task in the same column, with spaces", id="a wrong indent"),
        pytest.param("# T\n\n  - [ ] A\n", "line 3: the indentation does not fit the items above; align the items of a task in the same column, with spaces", id="a first item that is indented"),
        pytest.param("# T\n\n- [ ] A\n\t- needs: B\n", "line 4: a tab cannot indent a plan; use spaces", id="a tab"),
        pytest.param("# T\n\n- [x] A\n", "line 3: 'A' is ticked off, and a plan begins with nothing done; write [ ], or remove the task", id="a task that is done"),
        pytest.param("# T\n## Phase 1\n- [ ] A\n", "line 2: a second heading, 'Phase 1'; make it a task, and nest its parts below it", id="a second heading"),
        pytest.param("# T\n- [ ] A\nmore\n", "line 3: text outside the list; write a task as - [ ] TITLE and a key as - KEY: VALUE", id="prose behind the list"),
        pytest.param("# T\n- A\n", "line 2: 'A' is neither a task nor a key; write a task as - [ ] TITLE and a key as - KEY: VALUE", id="an item that is nothing"),
        pytest.param("# T\n- [ ] A\n  - needs: B\n  - needs: C\n", "line 4: the key 'needs' appears twice; list several values as items below a single needs:", id="a key twice"),
        pytest.param("# T\n- [ ] A\n  - parts: B\n", "line 3: the key 'parts' appears twice; list several values as items below a single parts:", id="parts as a key"),
        pytest.param("# T\n- [ ] A\n  - needs: B\n    - C\n", "line 3: needs has a value and items below it; list several values as items below a single needs:", id="a value and items"),
        pytest.param("# T\n- [ ] A\n  - needs:\n    - [ ] B\n", "line 4: 'B' lies in the values of a key; indent a task as deep as the keys of its goal", id="a task among values"),
        pytest.param("# T\n- [ ] A\n  - inputs: [x]\n", "line 3: '[x]' is no JSON; a text that begins like JSON needs quotation marks", id="what looks like JSON"),
        pytest.param('# T\n- [ ] A\n  - further: {"a": 1, "a": 2}\n', "line 3: a key appears twice; keep one of them", id="a key twice in JSON"),
        pytest.param("# T\n- [ ] A\n  - timeout:\n", "line 3: timeout must be a duration such as 90s, 10m or 2h, got nothing", id="a key without a value"),
        pytest.param("# T\n" + "".join(f"{' ' * depth}- [ ] t{depth}\n" for depth in range(70)), "line 66: nested too deeply; at most 64 levels are read", id="items without end"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_markdown(text: str, error: str) -> None:
    """A checklist that is almost a plan says what is missing."""
    assert error_of(text, "md") == error


def test_bare_words_of_yaml_stay_texts() -> None:
    """`no`, `on`, dates and octals are what was written, where a text is meant."""
    text = "title: on\ntasks:\n  - no\n  - 2026-01-02\n  - 0755\n  - ~\n"
    plan = read_short_plan(text.encode(), "yaml")
    assert (plan.title, [task.title for task in plan.root.parts]) == ("on", ["no", "2026-01-02", "0755", "~"])  # fmt: skip


def test_further_keys_are_read_as_json_reads_them() -> None:
    """Where anything may stand, a bare word is what JSON takes it for."""
    text = """
title: T
tasks:
  - title: A
    further: {a: true, b: null, c: 1, d: 1.5, e: no, f: "1", g: [x, 1e999], h: }
"""
    plan = read_short_plan(text.encode(), "yaml")
    assert plan.root.parts[0].further == {
        "a": True,
        "b": None,
        "c": 1,
        "d": 1.5,
        "e": "no",
        "f": "1",
        "g": ["x", "1e999"],
        "h": None,
    }


def test_a_date_of_toml_is_a_text() -> None:
    """It is written down as it is."""
    text = 'title = "T"\ncreated = 2026-01-02T03:04:05Z\n[[tasks]]\ntitle = "A"\n'
    assert read_short_plan(text.encode(), "toml").created == "2026-01-02T03:04:05+00:00"


def test_markdown_titles_and_values_may_go_on_in_the_next_line() -> None:
    """A line that is indented below its item belongs to it; a title may be quoted."""
    text = '# T\n\nA goal\nof two lines.\n\n- owner: ann\n- [ ] Write\n  the text\n  - accept:\n    - `a*b`\n    - "[x]"\n- [ ] "A\\nB"\n- [ ] "A" and "B"\n'
    plan = read_short_plan(text.encode(), "md")
    first, second, third = plan.root.parts
    assert (plan.root.goal, plan.owner) == ("A goal of two lines.", "ann")
    assert (first.title, first.accept) == ("Write the text", ("a*b", "[x]"))
    assert (second.title, third.title) == ("A\nB", '"A" and "B"')


def test_files_that_are_too_large_or_not_text() -> None:
    """Both are refused before anything is parsed."""
    with pytest.raises(InvalidPlanFile, match="larger than 1024 KiB; write a plan"):
        read_short_plan(b" " * (LARGEST + 1), "yaml")
    with pytest.raises(InvalidPlanFile, match="line 2: not UTF-8; save it as UTF-8"):
        read_short_plan(b"title: T\n\xff", "yaml")


def test_an_error_names_its_file() -> None:
    """With and without a line."""
    assert str(InvalidPlanFile("odd", 3).in_file("p.md")) == "p.md:3: odd"
    assert str(InvalidPlanFile("odd", way_out="mend it").in_file("p.md")) == "p.md: odd; mend it"  # fmt: skip


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.json", "json"), ("a.YML", "yaml"), ("a.b.markdown", "md"), ("yaml", None), ("a.txt", None)],
)  # fmt: skip
def test_the_name_of_a_file_stands_for_its_format(name: str, form: str | None) -> None:
    """By its ending alone."""
    assert format_of(name) == form
