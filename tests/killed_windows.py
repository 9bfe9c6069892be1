"""Proactive sessions that are killed at random times: a model that asks a server once for each
message, and checks of what is stored and asked again."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.servers import Answer, ReceivedRequest, Server

Script = Mapping[str, Sequence[tuple[float, str]]]
"""For each question, what is to be said: the second and the text."""

MODEL = '''
"""Says what a server says, once the time of a line of the script has come."""

import json
import re
from urllib.request import Request, urlopen

from snellen.core.model import Emission

URL = "@URL@"
SCRIPT = json.loads("""@SCRIPT@""")


class Session:
    def __init__(self):
        self.open = {}

    def feed(self, frames):
        due = [
            (id, line)
            for id, lines in self.open.items()
            for line in lines
            if line[0] <= frames[-1].time
        ]
        return [self.said(id, line) for id, line in due]

    def said(self, id, line):
        self.open[id].remove(line)
        with urlopen(Request(URL, json.dumps(line).encode())) as response:
            return Emission(text=json.loads(response.read())["text"], query=id)

    def ask(self, query, must_answer):
        number = re.search(r"#(\\d+)", query.text)[1]
        self.open[query.id] = [[*line, number] for line in SCRIPT[number]]

    def replay(self, event, messages):
        if hasattr(event, "text"):
            self.ask(event, False)
        for message in messages:
            self.open[message.query].pop(0)


class Talks:
    def open(self, spec):
        return Session()
'''


def answer(request: ReceivedRequest) -> Answer:
    _, text, _ = json.loads(request.body)
    return Answer(body=json.dumps({"text": text}).encode(), delay=0.03)


def write_model(folder: Path, url: str, script: Script) -> Path:
    path = folder / "talks.py"
    path.write_text(MODEL.replace("@URL@", url).replace("@SCRIPT@", json.dumps(script)))
    return path


def run_once(data: Path, model: Path, out: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "snellen", "run", "-b", "ovo-bench:mode=proactive"]
    command += ["-m", f"python:{model}:Talks", "--data", str(data), "--out", str(out), "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def kill_again_and_again(
    server: Server, data: Path, model: Path, out: Path, *, messages: int, kills: int, seed: int
) -> tuple[int, Any]:
    """Run, kill, and repeat, then let the run end. Returns the number of kills that hit a run in
    progress, and the final report."""
    draw = random.Random(seed)
    hits = 0
    for number in range(kills + 1):
        before, stored = len(server.requests), stored_messages(out)
        process = run_once(data, model, out)
        if number < kills:
            enough = before + draw.randint(1, max(1, (messages - len(stored)) // (kills - number)))
            while len(server.requests) < enough and process.poll() is None:
                time.sleep(0.002)
            time.sleep(draw.uniform(0, 0.06))
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                hits += 1
        output, words = process.communicate()
        repeated = stored & {spoken_of(request) for request in server.requests[before:]}
        assert not repeated, f"kill {number}: {sorted(repeated)} were stored"
    assert process.returncode == 0, words.decode()[-1000:]
    return hits, json.loads(output)


def spoken_of(request: ReceivedRequest) -> tuple[str, str]:
    """The question and the text that a request is about."""
    _, text, number = json.loads(request.body)
    return number, text


def lines(out: Path) -> list[dict[str, Any]]:
    """The complete lines of the journal."""
    return [
        json.loads(line)
        for journal in out.glob("*/*/*/replies*.jsonl")
        for line in journal.read_bytes().splitlines(keepends=True)
        if line.endswith(b"}\n")
    ]


def stored_messages(out: Path) -> set[tuple[str, str]]:
    """The question and the text of each message of a finished window."""
    return {
        (message["query"], message["text"])
        for line in lines(out)
        if line["kind"] == "window"
        for call in line["calls"]
        for message in call.get("messages", [])
    }


def times_stored(out: Path) -> Counter[tuple[Any, ...]]:
    """How often each window and each reply is stored, by its key."""
    return Counter(tuple(line["key"]) for line in lines(out) if line.get("state") != "failed")
