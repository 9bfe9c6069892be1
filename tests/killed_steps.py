"""Runs with tools that are killed at random times: a server whose questions take one to six steps,
and checks of what is stored and asked again."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from PIL import Image

from tests.servers import Answer, ReceivedRequest, Server, completion

Step = tuple[str, int]
CONCURRENCY = 8
MOST_STEPS = 6
ZOOM = '<tool_call>{"name": "zoom", "arguments": {"box": [0, 0, 500, 500]}}</tool_call>'


def write_rows(folder: Path, n: int) -> Path:
    """A file of n questions about one small picture."""
    pixels = np.random.default_rng(1).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / "noise.png")
    path = folder / "rows.jsonl"
    rows = (
        {"id": f"q{i}", "question": f"[q{i}] Which?", "image": "noise.png", "answer": "A"}
        | {"A": "x", "B": "y"}
        for i in range(n)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def steps_of(name: str) -> int:
    """How many steps the question takes, from 1 to 6."""
    return 1 + int(name[1:]) * 7 % MOST_STEPS


def step_of(request: ReceivedRequest) -> Step:
    messages = request.json["messages"]
    name = json.dumps(messages[0]).partition("[q")[2].partition("]")[0]
    return f"q{name}", sum(message["role"] == "assistant" for message in messages)


def answer(request: ReceivedRequest) -> Answer:
    """A call of zoom in each step but the last."""
    name, step = step_of(request)
    return completion("A" if step + 1 >= steps_of(name) else ZOOM)


def kill_again_and_again(
    server: Server, rows: Path, out: Path, *, n: int, kills: int, seed: int, latency: float
) -> int:
    """Run, kill, and repeat, then let the run end, and check it. Returns the number of kills that
    hit a run in progress."""
    draw = random.Random(seed)
    total = sum(steps_of(f"q{i}") for i in range(n))
    hits = 0
    for number in range(kills + 1):
        before, stored = len(server.requests), stored_steps(out)
        process = _start(rows, server.url, out)
        if number < kills:
            while len(server.requests) == before and process.poll() is None:
                time.sleep(0.002)
            left = (total - len(stored)) * latency / CONCURRENCY / (kills - number)
            time.sleep(draw.uniform(0, max(left, 0.01)))
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                hits += 1
        _, words = process.communicate()
        repeated = stored & {step_of(request) for request in server.requests[before:]}
        assert not repeated, f"kill {number}: {sorted(repeated)} were stored"
    assert process.returncode == 0, words.decode()[-1000:]
    _check_end(server, out, n=n, hits=hits)
    return hits


def _check_end(server: Server, out: Path, *, n: int, hits: int) -> None:
    """Check that each step is stored once, and that few requests were repeated."""
    expected = {(f"q{i}", k) for i in range(n) for k in range(steps_of(f"q{i}"))}
    finals = Counter(_stored(out))
    assert finals == dict.fromkeys(expected, 1)
    assert len(server.requests) <= len(expected) + hits * CONCURRENCY
    [report_file] = out.glob("*/*/*/report.json")
    report = json.loads(report_file.read_bytes())
    assert report["replies"] == {"ok": n}
    assert report["tools"]["ended"] == {"answered": n}
    assert report["tools"]["steps"]["value"] == len(expected) / n


def stored_steps(out: Path) -> set[Step]:
    """The steps whose reply is stored."""
    return {*_stored(out)}


def _stored(out: Path) -> list[Step]:
    lines = [
        line
        for journal in out.glob("*/*/*/replies*.jsonl")
        for line in journal.read_bytes().splitlines(keepends=True)
    ]
    records = [json.loads(line) for line in lines if line.endswith(b"}\n")]
    return [
        (record["key"][0], record["key"][3] if len(record["key"]) > 3 else 0)
        for record in records
        if record["state"] != "failed"
    ]


def _start(rows: Path, url: str, out: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "snellen", "run", "-b", str(rows), "-m", "openai/m"]
    command += [
        "--tools",
        "zoom",
        "--tool-form",
        "text",
        "--base-url",
        url,
        "--concurrency",
        str(CONCURRENCY),
    ]
    return subprocess.Popen(
        [*command, "--out", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
