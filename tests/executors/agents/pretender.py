"""A program that behaves like codex as far as an executor can tell: for machines where codex is not installed.

What it does is in its prompt, as JSON after the word DO: files to write, messages to submit, last words, an exit code. Without
that word it does what an agent does: it asks its model, runs the tools the model names, and ends with the model's last words.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from itertools import pairwise
from pathlib import Path
from typing import Any


def say(kind: str, **more: Any) -> None:
    """An event."""
    sys.stdout.write(json.dumps({"type": kind, **more}) + "\n")
    sys.stdout.flush()


def submit(command: list[str], messages: list[Any]) -> list[str]:
    """Hand in through MCP, as a client that knows only the handshake."""
    about = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }
    lines: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": about},
        {"method": "notifications/initialized"},
        *(
            {
                "id": at,
                "method": "tools/call",
                "params": {"name": "submit", "arguments": {"message": one}},
            }
            for at, one in enumerate(messages, 1)
        ),
    ]
    told = []
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for line in lines:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **line}) + "\n")
            server.stdin.flush()
            if "id" in line:
                told.append(server.stdout.readline())
        server.stdin.close()
    return told[1:]


def known() -> dict[str, str]:
    """The key it was given, as codex tells it."""
    return {"Authorization": f"Bearer {os.environ['ACCORDANCE_MODEL_KEY']}"}


TEXT = {"type": "string"}
TOOLS = [
    {
        "type": "function",
        "name": "shell",
        "parameters": {"properties": {"command": TEXT}},
    },
    {
        "type": "function",
        "name": "accordance_submit",
        "parameters": {"properties": {"message": {}}},
    },
]


def converse(url: str, prompt: str, tool: list[str]) -> None:
    """Ask the model, do what it says, tell it what came of that, until it says something itself."""
    items: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "content": prompt}
    ]
    while True:
        asked = {"model": "fake-model", "input": items, "tools": TOOLS}
        request = urllib.request.Request(
            f"{url}/responses", json.dumps(asked).encode(), known()
        )
        said = json.loads(urllib.request.urlopen(request, timeout=600).read())["output"]
        for one in said:
            if one["type"] == "message":
                say(
                    "item.completed",
                    item={"type": "agent_message", "text": one["content"][0]["text"]},
                )
                say("turn.completed", usage={"input_tokens": 10, "output_tokens": 5})
                return
            arguments = json.loads(one["arguments"])
            if one["name"] == "shell":
                ran = subprocess.run(
                    arguments["command"], shell=True, capture_output=True, check=False
                )
                output = ran.stdout.decode()
            else:
                output = submit(tool, [arguments["message"]])[0]
            items.append(
                {
                    "type": "function_call_output",
                    "call_id": one["call_id"],
                    "output": output,
                }
            )


def main() -> None:
    settings: dict[str, Any] = {}
    for flag, value in pairwise(sys.argv):
        settings |= tomllib.loads(value) if flag == "-c" else {}
    prompt = sys.stdin.read()
    os.chdir(sys.argv[sys.argv.index("-C") + 1])
    tool = settings["mcp_servers"]["accordance"]
    if "DO {" not in prompt:
        url = settings["model_providers"]["accordance"]["base_url"]
        converse(url, prompt, [tool["command"], *tool["args"]])
        return
    do = json.loads(prompt.partition("DO ")[2])
    for path in [*["responses"] * do.get("calls", 1), *do.get("beside", ())]:
        url = settings["model_providers"]["accordance"]["base_url"]
        asked = b'{"model": "fake-model", "input": [], "tools": []}'
        request = urllib.request.Request(f"{url}/{path}", asked, known())
        try:
            urllib.request.urlopen(request, timeout=600).read()
        except urllib.error.HTTPError as error:
            say("error", message=f"{error} {error.read().decode()}")
    for name, content in do.get("files", {}).items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(content)
    for source, name in do.get("copy", {}).items():
        Path(name).write_bytes(Path(source).read_bytes())
    told = (
        submit([tool["command"], *tool["args"]], do["submit"]) if "submit" in do else []
    )
    Path("told.json").write_text(json.dumps([told, dict(os.environ), sys.argv]))
    time.sleep(do.get("sleep", 0))
    if "final" in do:
        say("item.completed", item={"type": "agent_message", "text": do["final"]})
    if do.get("ends", True):
        say("turn.completed", usage={"input_tokens": 10, "output_tokens": 5})
    sys.exit(do.get("exit", 0))


if __name__ == "__main__":
    main()
