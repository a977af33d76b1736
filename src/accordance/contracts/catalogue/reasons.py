"""The reasons that a submission may give for having failed.

They are apart from its contract, so that explaining a code loads no models.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

REASON_CODES: Final = (
    "SCOPE_CONFLICT",
    "POLICY_VIOLATION",
    "CONSTITUTION_VIOLATION",
    "CI_FAILED",
    "SCHEMA_VIOLATION",
    "PINS_INSUFFICIENT",
    "BUDGET_EXCEEDED",
    "TIMEOUT_EXCEEDED",
    "PREFLIGHT_FAILED",
    "MAX_ATTEMPTS_EXCEEDED",
    "ROLE_POLICY_VIOLATION",
    "EXECUTOR_ERROR",
    "CI_SKIPPED",
    "TESTS_ONLY_TASK_SELFTEST",
    "SPLIT_REQUIRED",
    "NEED_INPUT_REQUIRED",
    "MODEL_UNAVAILABLE",
    "ARTIFACT_MISSING",
    "MAX_CHILDREN_EXCEEDED",
    "DUPLICATE_DISPATCH",
    "EVIDENCE_INVALID",
    "FILE_NOT_FOUND",
    "PERMISSION_DENIED",
    "MERGE_CONFLICT",
    "DEPENDENCY_MISSING",
)
REASON_ALIASES: Final = MappingProxyType(
    {
        "EVIDENCE_MISSING": "ARTIFACT_MISSING",
        "NEEDS_CLARIFICATION": "NEED_INPUT_REQUIRED",
    }
)
NO_REASON: Final = "ok"
