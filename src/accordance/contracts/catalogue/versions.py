"""The names of the contracts that settings may name.

They are apart from the contracts, so that reading settings loads no models.
"""

from __future__ import annotations

from typing import Final

ACTION_VERSION: Final = "xiaobo_action_v1"
ACTION_NAME: Final = "action"
ANSWER_VERSION: Final = "agent_answer_v1"
ANSWER_NAME: Final = "answer"
