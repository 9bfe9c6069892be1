"""The mock server of the peers' workloads, with replies in the forms of `_replies.py`.

usage: python perf/_reply_server.py --peers DIR [--port 0]

Prints its port, and ends when its standard input does. POST /replies with {"form": ..., "kind":
..., "n": ..., "rows": FILE or null} is answered when the replies to n questions are ready. Before
the first such request, every reply is a letter. The other paths are those of mock_server.py in
--peers.
"""

import argparse
import asyncio
import json
import sys
import time
from dataclasses import replace
from typing import Any, ClassVar

from _replies import LETTERS, question, reply

ap = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
ap.add_argument("--peers", required=True)
ap.add_argument("--port", type=int, default=0)
args = ap.parse_args()
sys.path.insert(0, args.peers)

import mock_server  # noqa: E402


def replies(form: str, kind: str, n: int, rows: str | None) -> list[str]:
    """The replies to the questions 0 to n - 1. `rows` has the choices of these questions, if they
    are not those of `_replies.py`."""
    questions = (question(kind, number) for number in range(n))
    if rows is not None:
        with open(rows) as file:
            choices = [tuple(json.loads(line)[letter] for letter in LETTERS) for line in file]
        pairs = zip(questions, choices, strict=True)
        questions = (replace(question, choices=choices) for question, choices in pairs)
    return [reply(question, form) for question in questions]


class Connection(mock_server.Conn):
    texts: ClassVar[list[str]] = []
    """The replies by item, for all connections."""

    def handle(self, head: bytes, body: bytes) -> None:
        if head.split(b" ", 2)[1] == b"/replies":
            Connection.texts = replies(**json.loads(body))
            self.send(200, b"{}")
        else:
            super().handle(head, body)

    def answer(self, item: int, fault: Any, what: str, key: int) -> None:
        if what != "ok" or not 0 <= item < len(self.texts):
            super().answer(item, fault, what, key)
            return
        state = self.st
        state.step(-1)
        state.last = time.time()
        text = self.texts[item]
        if state.tagged.pop(key, False):  # Inspect's prompt wants this as the last line
            text += f"\n\nANSWER: {LETTERS[item % 4]}"
        tokens = max(1, len(text) // 4)
        message = {"role": "assistant", "content": text}
        body = {
            "id": f"chatcmpl-{state.requests}",
            "object": "chat.completion",
            "created": int(state.last),
            "model": "mock",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {
                "prompt_tokens": 300,
                "completion_tokens": tokens,
                "total_tokens": 300 + tokens,
            },
        }
        state.status["200"] = state.status.get("200", 0) + 1
        self.send(200, json.dumps(body).encode())


async def main() -> None:
    state = mock_server.State(0.1)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Connection(state), "127.0.0.1", args.port, backlog=4096
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    ended = asyncio.Event()
    loop.add_reader(sys.stdin, ended.set)
    await ended.wait()
    server.close()


asyncio.run(main())
