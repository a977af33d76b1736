"""The submit tool and the small programs inside a sandbox, as real processes on both ends of real sockets."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

from accordance.executors.agents.executor import AGENTS
from accordance.executors.agents.grants import Grant
from accordance.executors.agents.relay import SOCKET as MODEL
from accordance.executors.agents.relay import Endpoint, relaying
from accordance.executors.agents.sockets import within
from accordance.executors.agents.submit_tool import MOST, SOCKET, SubmitTool
from accordance.executors.inside import bridge, pipe
from accordance.executors.opinion import Opinion
from tests.fake_model_server import Script, serving
from tests.limits import LIMIT

PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
ASK = """
import sys, urllib.request
asked = urllib.request.Request(f"http://127.0.0.1:{sys.argv[1]}/v1/models", headers={"x-api-key": sys.argv[2]})
print(urllib.request.urlopen(asked).read().decode())
sys.exit(7)
"""


def only_good(raw: bytes) -> Opinion:
    """An opinion."""
    good = raw == b'{"good": true}'
    return Opinion(
        done=good,
        text="good" if good else "bad\nin two lines",
        reason_code=None if good else "X",
    )


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
        async with Client(
            StdioServerParameters(command=sys.executable, args=command)
        ) as client:
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
    assert verdicts[2] == {
        "verdict": "DONE",
        "reason_code": None,
        "messages": ["good"],
        "provisional": True,
    }
    assert [one.raw for one in tool.submitted[:4]] == [b'{"good": false}'] * 2 + [
        b'{"good": true}',
        b"null",
    ]
    assert len(asked) == len(tool.submitted) == 8


def test_there_is_an_end_to_handing_in() -> None:
    """So many messages are judged and no more; the last ones are kept."""
    asked: list[bytes] = []

    def opinion(raw: bytes) -> Opinion:
        asked.append(raw)
        return only_good(raw)

    tool = SubmitTool(opinion)
    told = [tool.submit({"message": at}) for at in range(MOST + 2)]
    assert len(asked) == MOST
    assert told[-1]["messages"] == [
        f"At most {MOST} messages are accepted. End now; the work is judged as it is."
    ]
    assert tool.submitted[-1][0] == str(MOST - 1).encode()
    assert len(tool.submitted) < MOST


def test_one_opinion_at_a_time() -> None:
    """However many ask at once, and nothing counts that comes out when the run is over."""
    asked: list[bytes] = []
    under_way: list[int] = []
    with ThreadPoolExecutor(8) as pool:

        def opinion(raw: bytes) -> Opinion:
            asked.append(raw)
            under_way.append(len(asked) - len(tool.submitted))
            return only_good(raw)

        tool = SubmitTool(opinion)
        list(pool.map(lambda at: tool.submit({"message": at}), range(8)))
    assert under_way == [1] * 8


def test_nothing_counts_that_comes_after_the_end(tmp_path: Path) -> None:
    """An opinion that is still being formed when the agent is gone is nobody's."""
    begun, over = threading.Event(), threading.Event()

    def opinion(raw: bytes) -> Opinion:
        begun.set()
        over.wait(LIMIT)
        return only_good(raw)

    tool = SubmitTool(opinion)
    with ThreadPoolExecutor(1) as pool:
        with tool.offered(tmp_path, 1 << 20):
            late = pool.submit(tool.submit, {"message": {"good": True}})
            assert begun.wait(LIMIT)
        over.set()
        assert late.result(LIMIT)["verdict"] == "DONE"
    assert tool.submitted == []
    assert tool.submit({"message": {"good": True}})["verdict"] == "RETRY"


def test_a_few_connections_at_once(tmp_path: Path) -> None:
    """One more is hung up on; when one has gone, the next is served."""
    tool = SubmitTool(only_good)
    with (
        tool.offered(tmp_path, 1 << 20),
        within(tmp_path) as place,
        contextlib.ExitStack() as agents,
    ):

        def connect() -> socket.socket:
            agent = agents.enter_context(socket.socket(socket.AF_UNIX))
            agent.settimeout(LIMIT)
            agent.connect(f"{place}/{SOCKET}")
            with contextlib.suppress(OSError):
                agent.sendall(PING)
            return agent

        def is_served(agent: socket.socket) -> bool:
            try:
                return agent.recv(1) != b""
            except ConnectionResetError:
                return False

        served = [connect() for _ in range(4)]
        assert all(map(is_served, served))
        assert not is_served(connect())
        served[0].close()
        deadline = time.monotonic() + LIMIT
        while not is_served(connect()):
            assert time.monotonic() < deadline


@pytest.mark.parametrize(
    "flood", [b"x" * 5000, b"not json\n" * 1000], ids=["one line", "many lines"]
)
def test_a_flood_ends_its_own_connection(tmp_path: Path, flood: bytes) -> None:
    """No more is read than may be, and the next one is served."""
    tool = SubmitTool(only_good)
    with tool.offered(tmp_path, 4096), within(tmp_path) as place:
        for _ in range(2):
            with socket.socket(socket.AF_UNIX) as agent:
                agent.settimeout(LIMIT)
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
    with (
        serving(Script([{"say": "x"}])) as server,
        relaying(
            Endpoint(f"{server.url}/v1"), Grant(AGENTS["codex"].requests, "m"), tmp_path
        ) as door,
    ):
        done = subprocess.run(
            [*command, sys.executable, "-c", ASK, port, door.key],
            capture_output=True,
            timeout=LIMIT,
            check=False,
        )
    assert done.returncode == 7, done.stderr
    assert json.loads(done.stdout)["data"][0]["id"] == "fake-model"
    killed = subprocess.run(
        [*command, "sh", "-c", "kill -9 $$"],
        capture_output=True,
        timeout=LIMIT,
        check=False,
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
