"""A stand-in for a model: chat completions on loopback, for callers with the key.

Prints its port, and answers every request with the same text.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

KEY = sys.argv[1]
TEXT = "Fresh bread, rounded prices: rye 2.50 EUR, wheat 1.90 EUR."
MESSAGE = {
    "schema_version": "xiaobo_action_v1",
    "task_id": "spring-prices.describe-the-offer",
    "result_type": "ARTIFACT",
    "artifact": {"name": "offer", "format": "md", "content": TEXT},
}
USAGE = {"prompt_tokens": 1200, "completion_tokens": 90, "total_tokens": 1290}


class Model(BaseHTTPRequestHandler):
    """Streams the answer as server-sent events."""

    def do_POST(self):
        """Answer, or refuse a wrong key."""
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Authorization"] != f"Bearer {KEY}":
            self.send_error(401, "wrong key")
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.send({"delta": {"role": "assistant", "content": json.dumps(MESSAGE)}})
        self.send({"delta": {}, "finish_reason": "stop"}, usage=USAGE)
        self.wfile.write(b"data: [DONE]\n\n")

    def send(self, choice, **more):
        """Send a piece of the answer."""
        chunk = {
            "id": "answer",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "small",
            "choices": [{"index": 0, "finish_reason": None, **choice}],
            **more,
        }
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())

    def log_message(self, *words):
        """Print nothing about requests."""


server = HTTPServer(("127.0.0.1", 0), Model)
print(server.server_port, flush=True)
server.serve_forever()
