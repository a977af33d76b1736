"""A research agent without a model: it reads its prompt like any agent and answers by the book.

    accordance research golden --command "python examples/research/agent.py"

It always offers the same five candidates, and selects the least typical that the prompt's floor allows. Its answers have
no content, but honour every rule. Replace it by your own model.
"""

from __future__ import annotations

import json
import os
import re
import sys

SCORES = (0.92, 0.74, 0.55, 0.42, 0.24)
PROBABILITIES = (0.5, 0.2, 0.1, 0.06, 0.02)
OUTPUTS = ("context_summary", "alternative_directions", "novelty_assessment")


def filled(place: object) -> object:
    """A value for a placeholder: a list if a list is expected."""
    return ["by the book"] if isinstance(place, list) else "by the book"


def main() -> None:
    """Read the prompt, write a JSON object."""
    prompt = sys.stdin.read()
    request = json.loads(os.environ["ACCORDANCE_REQUEST"])
    shape, _ = json.JSONDecoder().raw_decode(prompt, prompt.rindex('\n{\n  "schema_version": "agent_answer_v1"') + 1)
    floor = re.search(r"T-score below ([\d.]+)|T-Score가 ([\d.]+) 미만", prompt)
    least = float((floor[1] or floor[2]) if floor else 0)
    candidates = [
        {"option": f"candidate {at}", "score": score, "rationale": "by the book", "probability": probability}
        for at, (score, probability) in enumerate(zip(SCORES, PROBABILITIES, strict=True), 1)
    ]
    allowed = (candidate for candidate in candidates if candidate["score"] >= least)
    selected = min(allowed, key=lambda candidate: candidate["score"])
    answer = {
        **shape,
        "task_id": request["task_id"],
        "execution_timestamp": "2026-03-04T09:15:00Z",
        "vs_metadata": {
            **shape["vs_metadata"],
            "modal_identified": ["candidate 1"],
            "t_scores": candidates,
            "final_selection": {
                "option": selected["option"],
                "t_score": selected["score"],
                "justification": "the least typical that the floor allows",
            },
            **{name: filled(shape["vs_metadata"][name]) for name in OUTPUTS if name in shape["vs_metadata"]},
        },
        "content": {
            "summary": "By the book.",
            "main_output": {name: "by the book" for name in shape["content"]["main_output"]},
            "confidence": 0.5,
        },
        "provenance": {"sources": ["the prompt"], "reasoning_trace": ["read it"], "assumptions": []},
    }
    print(json.dumps(answer, ensure_ascii=False))


if __name__ == "__main__":
    main()
