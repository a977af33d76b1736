"""A reviewer: scores by the rubric. It returns a change of prices that does not update the README."""

from desk import read_assignment, say

assignment = read_assignment()
content = assignment["context"]["product"]["content"]
is_behind = "parcels/prices.py" in content and "README.md" not in content
rubric = assignment["context"]["rubric"]["dimensions"]
scores = {name: most - (most // 2 if is_behind and name == "Coverage" else 0) for name, most in rubric.items()}
suggestion = {
    "priority": "HIGH",
    "change": "Put the new prices into the README as well",
    "steps": ["Replace the table in README.md by the prices in parcels/prices.py"],
    "acceptance_criteria": "README.md and parcels/prices.py name the same prices",
}
say(
    {
        "schema_version": "xiaojing_review_v1",
        "task_id": assignment["contract"]["task_id"],
        "review_target": "NODE",
        "total_score": sum(scores.values()),
        "action_required": "MODIFY" if is_behind else "APPROVE",
        "summary": "The README still shows the old prices." if is_behind else "As it should be.",
        "breakdown": [
            {"dimension": name, "score": score, "max_score": rubric[name], "issues": []} for name, score in scores.items()
        ],
        "suggestions": [suggestion] if is_behind else [],
    }
)
