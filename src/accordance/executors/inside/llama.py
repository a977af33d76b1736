"""Asks a model in a GGUF file, in a process of its own.

A crash of the model's library then kills nothing else. Runs as `python -c SOURCE MODEL
THREADS TOKENS`, with the conversation and the schema as JSON on standard input. The
answer goes to standard output; the last line on standard error reports the tokens.
"""

from __future__ import annotations

import json
import sys


def main() -> None:  # pragma: no cover - a process of its own, with llama-cpp-python
    """Load the model, ask it, and write its answer."""
    from llama_cpp import Llama

    path = sys.argv[1]
    threads = int(sys.argv[2])
    tokens = int(sys.argv[3])
    request = json.load(sys.stdin)

    model = Llama(
        path, n_ctx=0, n_threads=threads, n_batch=1, n_ubatch=1, verbose=False
    )
    completion = model.create_chat_completion(
        request["messages"],
        max_tokens=tokens,
        temperature=request["temperature"],
        response_format={"type": "json_object", "schema": request["schema"]},
    )

    answer = completion["choices"][0]["message"]["content"]
    sys.stdout.write(answer or "")
    sys.stderr.write("\n" + json.dumps(completion["usage"]) + "\n")


if __name__ == "__main__":  # pragma: no cover
    main()
