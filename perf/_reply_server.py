"""The mock server of the peers' workloads, with replies in the forms of `_replies.py`.

usage: python perf/_reply_server.py --peers DIR [--port 0]

Prints its port, and ends when its standard input does. POST /replies with {"form": ..., "kind":
..., "n": ..., "rows": FILE or null} is answered when the replies to n questions are ready. Before
the first such request, every reply is a letter. POST /slow with {"knee": ..., "beyond": ...} makes
replies slower while more than `knee` requests are in flight, and GET /seconds says how many replies
were sent in each second. The other paths are those of mock_server.py in --peers.
"""

import argparse
import asyncio
import json
import sys
import time
from dataclasses import replace
from typing import Any, ClassVar

from _replies import LETTERS, question, reply
from _slow import slower

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
    knee: ClassVar[int | None] = None
    """With how many requests in flight replies become slower; None: never."""
    beyond: ClassVar[str] = "once"
    """How much slower (`_slow.py`)."""
    seconds: ClassVar[dict[int, list[int]]] = {}
    """For each second since the first request, the number of replies, and the sum of the requests
    that were in flight when a reply was sent."""

    def handle(self, head: bytes, body: bytes) -> None:
        path = head.split(b" ", 2)[1]
        if path == b"/replies":
            Connection.texts = replies(**json.loads(body))
            self.send(200, b"{}")
        elif path == b"/slow":
            form = json.loads(body)
            Connection.knee, Connection.beyond = form["knee"], form["beyond"]
            self.send(200, b"{}")
        elif path == b"/seconds":
            self.send(200, json.dumps(self.seconds).encode())
        else:
            if path == b"/reset":
                self.seconds.clear()
            super().handle(head, body)

    def chat(self, body: bytes) -> None:
        state = self.st
        latency = state.latency
        if self.knee is not None:
            state.latency *= slower((state.cur + 1) / self.knee, self.beyond)
        super().chat(body)
        state.latency = latency

    def answer(self, item: int, fault: Any, what: str, key: int) -> None:
        counts = self.seconds.setdefault(int(time.time() - self.st.first), [0, 0])
        counts[0] += 1
        counts[1] += self.st.cur
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
