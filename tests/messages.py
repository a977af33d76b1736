"""Whole, valid messages of every contract, for tests to take as they are or to break."""

from __future__ import annotations

import copy
from typing import Any

Message = dict[str, Any]

TASK = "5b0c6f0e-1f2d-4c55-9a51-0d6d3c1b7a01"
PLAN = "9a4f6f64-7a0b-4a53-8a6e-2f0b6d1c0001"

ACTION: Message = {
    "schema_version": "xiaobo_action_v1",
    "task_id": TASK,
    "result_type": "ARTIFACT",
    "artifact": {
        "name": "price_list",
        "format": "md",
        "content": "# Prices\n- rye 4.20",
        "path_hint": f"workspace/artifacts/{TASK}/price_list.md",
        "summary": "Spring prices",
    },
}
NEEDS_INPUT: Message = {
    "schema_version": "xiaobo_action_v1",
    "task_id": TASK,
    "result_type": "NEEDS_INPUT",
    "needs_input": {
        "required_docs": [
            {
                "name": "supplier_sheet",
                "description": "Flour prices for spring",
                "accepted_types": ["xlsx", "pdf"],
                "suggested_path": "workspace/inputs/supplier_sheet/",
            }
        ]
    },
}
REVIEW: Message = {
    "schema_version": "xiaojing_review_v1",
    "task_id": TASK,
    "review_target": "NODE",
    "total_score": 60,
    "action_required": "MODIFY",
    "summary": "Rye is missing.",
    "breakdown": [
        {
            "dimension": "Coverage",
            "score": 60,
            "max_score": 100,
            "issues": [
                {
                    "problem": "Rye price missing",
                    "evidence": "price_list.md line 2",
                    "impact": "Customers pay the old price",
                    "suggestion": "Add the rye row",
                    "acceptance_criteria": "A rye row with a price",
                }
            ],
        }
    ],
    "suggestions": [
        {
            "priority": "HIGH",
            "change": "Add the row",
            "steps": ["open", "add"],
            "acceptance_criteria": "It is there",
        }
    ],
}
SUBMIT: Message = {
    "schema_version": "scc.submit.v1",
    "task_id": TASK,
    "status": "DONE",
    "reason_code": "ok",
    "changed_files": ["src/app.py"],
    "new_files": ["tests/test_app.py"],
    "tests": {"commands": ["pytest -q"], "passed": True, "summary": "1 passed"},
    "artifacts": {
        "report_md": f"artifacts/{TASK}/report.md",
        "selftest_log": f"artifacts/{TASK}/selftest.log",
        "evidence_dir": f"artifacts/{TASK}/evidence/",
        "patch_diff": f"artifacts/{TASK}/patch.diff",
        "submit_json": f"artifacts/{TASK}/submit.json",
    },
    "exit_code": 0,
    "needs_input": [],
}
TASK_INPUT: Message = {
    "task_id": TASK,
    "goal": "Fix the off-by-one error.",
    "role": "engineer",
    "pins": {
        "allowed_paths": ["src/**", "tests/"],
        "forbidden_paths": ["**/secrets/**"],
    },
    "files": ["src/app.py"],
    "allowedTests": ["pytest -q"],
    "allowedExecutors": ["codex"],
    "timeoutMs": 300000,
}
ANSWER: Message = {
    "agent_id": "theory-architect",
    "vs_level": "Full",
    "execution_timestamp": "2025-03-04T09:15:00Z",
    "vs_metadata": {
        "phase_executed": [0, 1, 2, 3, 4, 5],
        "modal_identified": ["TAM"],
        "t_scores": [
            {"option": "TAM", "score": 0.92, "rationale": "everybody uses it"},
            {
                "option": "Control-Value Theory",
                "score": 0.45,
                "rationale": "explains anxiety",
            },
        ],
        "final_selection": {
            "option": "Control-Value Theory",
            "t_score": 0.45,
            "justification": "fits the timing",
        },
        "context_summary": "Speaking anxiety and the timing of feedback.",
        "novelty_assessment": "Hardly anybody has used it here.",
    },
    "content": {
        "summary": "It fits. It can be tested.",
        "main_output": {"hypotheses": ["H1"]},
        "confidence": 0.78,
    },
    "provenance": {
        "sources": ["Pekrun 2006"],
        "reasoning_trace": ["modal ruled out"],
        "assumptions": [],
    },
    "self_critique": {
        "strengths": ["clear"],
        "weaknesses": ["narrow"],
        "improvement_suggestions": ["pilot"],
    },
}
REQUEST: Message = {
    "task_id": TASK,
    "task_type": "theory",
    "user_query": "Which framework explains distrust?",
    "context": {"research_domain": "health informatics", "stage": "planning"},
}
HANDOFF: Message = {
    "from_agent": "theory-architect",
    "to_agent": "design-consultant",
    "handoff_type": "sequential",
    "context_transfer": {
        "summary": "Control-Value Theory was chosen.",
        "key_decisions": ["theory"],
        "open_questions": [],
        "constraints_inherited": [],
    },
    "validation": {
        "required_fields_check": True,
        "schema_compliance": True,
        "vs_phase_completion": True,
    },
}
VERDICT: Message = {
    "schema_version": "scc.verdict.v1",
    "task_id": TASK,
    "verdict": "PASS",
    "messages": [],
    "checks": {
        "schema_valid": True,
        "scope_valid": True,
        "tests_passed": True,
        "evidence_present": True,
    },
    "timestamps": {
        "submitted_at": "2026-01-01T00:00:00Z",
        "evaluated_at": "2026-01-01T00:01:00Z",
    },
    "links": {
        "submit_json": "s",
        "report_md": "r",
        "selftest_log": "l",
        "patch_diff": "p",
        "evidence_dir": "e",
    },
}
EDITS: Message = {
    "schema_version": "file_edits_v1",
    "task_id": TASK,
    "status": "DONE",
    "summary": "last() returns the last item.",
    "needs_input": [],
    "edits": [
        {"path": "src/app.py", "content": "def last(items):\n    return items[-1]\n"},
        {"path": "src/old.py", "content": None},
    ],
}
OUTCOME: Message = {
    "task_id": TASK,
    "verdict": "DONE",
    "reason": "all checks pass",
    "checks": {
        "schema_valid": True,
        "scope_clean": True,
        "tests_passed": True,
        "artifacts_complete": True,
        "changed_files_match": True,
    },
    "next_action": "none",
}


def node(task: str, kind: str = "ACTION", **more: Any) -> Message:
    """A node of PLAN."""
    fields = {
        "task_id": task,
        "plan_id": PLAN,
        "node_type": kind,
        "title": f"Task {task}",
    }
    return {**fields, "owner_agent_id": "worker", "priority": 1, "tags": [], **more}


def edge(source: str, target: str, kind: str = "DECOMPOSE", **metadata: Any) -> Message:
    """An edge of PLAN."""
    if kind == "DECOMPOSE":
        metadata = {"and_or": "AND", **metadata}
    ends = {
        "edge_id": f"{kind}:{source}:{target}",
        "plan_id": PLAN,
        "from_task_id": source,
        "to_task_id": target,
    }
    return {**ends, "edge_type": kind, "metadata": metadata}


def plan(
    nodes: list[Message], edges: list[Message], root: str = "root", **more: Any
) -> Message:
    """A plan of these."""
    head = {
        "plan_id": PLAN,
        "title": "Spring catalogue",
        "root_task_id": root,
        "created_at": "2026-02-01T09:00:00Z",
    }
    return {
        "plan": {**head, "owner_agent_id": "planner", "constraints": None},
        "nodes": nodes,
        "edges": edges,
        "requirements": [],
        **more,
    }


def small_plan() -> Message:
    """A goal with two actions, one after the other."""
    nodes = [node("root", "GOAL"), node("a"), node("b")]
    return plan(
        nodes, [edge("root", "a"), edge("root", "b"), edge("a", "b", "DEPENDS_ON")]
    )


def requirement(task: str, **more: Any) -> Message:
    """A file that a task needs."""
    fields = {
        "requirement_id": "r1",
        "task_id": task,
        "name": "sheet",
        "kind": "FILE",
        "required": True,
    }
    return {
        **fields,
        "min_count": 1,
        "allowed_types": ["xlsx"],
        "source": "USER",
        **more,
    }


VALID: dict[str, Message] = {
    "xiaobo_action_v1": ACTION,
    "xiaojing_review_v1": REVIEW,
    "plan_json_v1": small_plan(),
    "agent_request_v1": REQUEST,
    "agent_answer_v1": ANSWER,
    "agent_handoff_v1": HANDOFF,
    "scc.task.v1": TASK_INPUT,
    "scc.submit.v1": SUBMIT,
    "file_edits_v1": EDITS,
    "scc.verdict.v1": VERDICT,
    "scc.outcome.v1": OUTCOME,
}


def changed(message: Message, path: str, value: Any) -> Message:
    """A copy with `value` at a dotted path such as `artifact.name` or `breakdown.0.score`; ... removes what is there."""
    copied = copy.deepcopy(message)
    *parents, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place: Any = copied
    for step in parents:
        place = place[step]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return copied
