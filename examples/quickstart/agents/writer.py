"""Writes texts: the brief from the price list somebody supplied, and the notes about what was changed."""

import re

from desk import assignment, product

told = assignment()
if told["task"]["title"].startswith("Brief"):
    # Inputs come in the prompt, marked as data.
    table = re.search(r'<data name="input price list[^>]*>\n(.*?)\n</data', told["prompt"]["user"], re.DOTALL)[1]
    rows = [line.split(",") for line in table.strip().splitlines()[1:]]
    lines = [f"| {zone} | {cents} |" for zone, cents in rows]
    text = "# Prices from 1 April\n\n| zone | cents per kg |\n|---|---|\n" + "\n".join(lines) + "\n"
    product(told, "brief", text, "The prices to be taken over.")
else:
    done = [f"- {one['title']}" for one in told["context"]["dependencies"] if one["artifact"]]
    product(told, "notes", "# What is new\n\n" + "\n".join(done) + "\n", "What is new.")
