"""A writer: makes the brief from the supplied price list, and notes about what was changed."""

import re

from desk import product, read_assignment

assignment = read_assignment()
if assignment["task"]["title"].startswith("Brief"):
    # Inputs come in the prompt, marked as data.
    table = re.search(r'<data name="input price list[^>]*>\n(.*?)\n</data', assignment["prompt"]["user"], re.DOTALL)[1]
    rows = [line.split(",") for line in table.strip().splitlines()[1:]]
    lines = [f"| {zone} | {cents} |" for zone, cents in rows]
    text = "# Prices from 1 April\n\n| zone | cents per kg |\n|---|---|\n" + "\n".join(lines) + "\n"
    product(assignment, "brief", text, "The prices to be taken over.")
else:
    needed = assignment["context"]["dependencies"]
    done = [f"- {task['title']}" for task in needed if task["artifact"]]
    product(assignment, "notes", "# What is new\n\n" + "\n".join(done) + "\n", "What is new.")
