"""The submit tool and the small programs inside a sandbox, as real processes on both ends of real sockets."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

from accordance.executors.agents.relay import SOCKET as MODEL
from accordance.executors.agents.relay import Endpoint, relaying
from accordance.executors.agents.sockets import within
from accordance.executors.agents.submit_tool import SOCKET, SubmitTool
from accordance.executors.inside import bridge, pipe
from accordance.executors.opinion import Opinion
from tests.fake_model_server import Script, serving

ASK = """
import sys, urllib.request
print(urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/v1/models").read().decode())
sys.exit(7)
"""


def only_good(raw: bytes) -> Opinion:
    """An opinion."""
    good = raw == b'{"good": true}'
    return Opinion(done=good, text="good" if good else "bad\nin two lines", reason_code=None if good else "X")


def test_an_agent_hands_in_through_a_pipe(tmp_path: Path) -> None:
    """The pipe inside, the server outside: verdicts come back, and the same message is judged anew each time."""
    asked: list[bytes] = []

    def opinion(raw: bytes) -> Opinion:
        asked.append(raw)
        return only_good(raw)

    tool = SubmitTool(opinion)
    command = ["-I", "-S", "-c", Path(pipe.__file__).read_text(), str(tmp_path), SOCKET]
    verdicts: list[object] = []

    async def talk() -> None:
        async with Client(StdioServerParameters(command=sys.executable, args=command)) as client:
            for message in ({"good": False}, {"good": False}, '{"good": true}', None):
                told = await client.call_tool("submit", {"message": message})
                verdicts.append(told.structured_content)

    with tool.offered(tmp_path, 1 << 20):
        anyio.run(talk)
        anyio.run(talk)  # an agent may start its server again
    assert (
        verdicts[0]
        == verdicts[1]
        == {
            "verdict": "RETRY",
            "reason_code": "X",
            "messages": ["bad", "in two lines"],
            "provisional": True,
        }
    )
    assert verdicts[2] == {"verdict": "DONE", "reason_code": None, "messages": ["good"], "provisional": True}
    assert [raw for raw, _ in tool.submitted[:4]] == [b'{"good": false}'] * 2 + [b'{"good": true}', b"null"]
    assert len(asked) == len(tool.submitted) == 8


@pytest.mark.parametrize("flood", [b"x" * 5000, b"not json\n" * 1000], ids=["one line", "many lines"])
def test_a_flood_ends_its_own_connection(tmp_path: Path, flood: bytes) -> None:
    """No more is read than may be, and the next one is served."""
    tool = SubmitTool(only_good)
    with tool.offered(tmp_path, 4096), within(tmp_path) as place:
        for _ in range(2):
            with socket.socket(socket.AF_UNIX) as agent:
                agent.settimeout(60)
                agent.connect(f"{place}/{SOCKET}")
                try:
                    agent.sendall(flood * 100)
                    while agent.recv(1 << 16):
                        pass
                except (BrokenPipeError, ConnectionResetError):
                    pass
    assert tool.submitted == []


def test_a_bridge_gives_its_command_one_address(tmp_path: Path) -> None:
    """Loopback inside leads to the socket outside; the command's exit code is the bridge's."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    source = Path(bridge.__file__).read_text()
    command = [sys.executable, "-I", "-S", "-c", source, str(tmp_path), MODEL, port]
    with serving(Script([{"say": "x"}])) as server, relaying(Endpoint(server.url), tmp_path):
        done = subprocess.run(
            [*command, sys.executable, "-c", ASK, port], capture_output=True, timeout=120, check=False
        )
    assert done.returncode == 7, done.stderr
    assert json.loads(done.stdout)["data"][0]["id"] == "fake-model"
    killed = subprocess.run(
        [*command, "sh", "-c", "kill -9 $$"], capture_output=True, timeout=120, check=False
    )
    assert killed.returncode == 137


def test_bytes_are_passed_on_until_there_are_no_more(tmp_path: Path) -> None:
    """Also when the other side goes."""
    here, there = socket.socketpair()
    one, other = socket.socketpair()
    with here, there, one, other:
        here.sendall(b"hello")
        here.shutdown(socket.SHUT_WR)
        bridge.copy(there, one)
        assert other.recv(100) == b"hello"
        assert other.recv(100) == b""
    with within(tmp_path) as place, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{place}/x.sock")
        listener.listen()
        bridge.connect(str(tmp_path), "x.sock").close()
