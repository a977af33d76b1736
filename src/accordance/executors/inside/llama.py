"""Asks a model in a GGUF file, in a process of its own: what kills the model's library kills nobody else.

Runs as `python -c SOURCE MODEL THREADS TOKENS`, with the conversation and the schema as JSON on standard input. The words
come on standard output as they are made; the last line on standard error tells the tokens.
"""

from __future__ import annotations

import json
import sys


def main() -> (
    None
):  # pragma: no cover - a process of its own, and only where llama-cpp-python is installed
    """Load, ask, write."""
    from llama_cpp import Llama

    path, threads, tokens = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    asked = json.load(sys.stdin)
    model = Llama(
        path, n_ctx=0, n_threads=threads, n_batch=1, n_ubatch=1, verbose=False
    )
    answer = model.create_chat_completion(
        asked["messages"],
        max_tokens=tokens,
        temperature=asked["temperature"],
        response_format={"type": "json_object", "schema": asked["schema"]},
    )
    sys.stdout.write(answer["choices"][0]["message"]["content"] or "")
    sys.stderr.write("\n" + json.dumps(answer["usage"]) + "\n")


if __name__ == "__main__":  # pragma: no cover
    main()
