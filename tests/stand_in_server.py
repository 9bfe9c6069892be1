"""A server's program, of the shape of `vllm serve`, without a model: a real process that listens,
answers, and ends as its arguments say.

    vllm serve NAME --host H --port P [--broken] [--slow] [--late] [--naps] [--dies-once=FILE]

It answers "A" to every question. `--broken`: it ends before it listens. `--slow`: it never becomes
healthy. `--late`: it listens after half a second. `--naps`: it takes half a second to answer.
`--dies-once=FILE`: at the fourth question it kills itself, unless FILE is there.
It starts a child, as engines do, and writes the numbers of both to standard output.
"""

import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path

ARGUMENTS = sys.argv[1:]
DIES_ONCE = next((Path(a.partition("=")[2]) for a in ARGUMENTS if "dies-once" in a), None)
NAME = next((a for a in ARGUMENTS[1:] if not a.startswith("--")), None)
REPLY = {"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}]}
numbers = count(1)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.reply(503 if "--slow" in ARGUMENTS or self.path != "/health" else 200, {})

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if DIES_ONCE and not DIES_ONCE.exists() and next(numbers) == 4:
            DIES_ONCE.touch()
            print("out of memory", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.5 * ("--naps" in ARGUMENTS))
        self.reply(200 if question["model"] == NAME else 404, REPLY)

    def reply(self, status: int, body: object) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    if "--broken" in ARGUMENTS:
        sys.exit("unrecognized arguments: --broken")
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    key = "sk-" in str(os.environ)
    print(f"pids {os.getpid()} {child.pid}", *ARGUMENTS, "key seen" * key, flush=True)
    time.sleep(0.5 * ("--late" in ARGUMENTS))
    port = int(ARGUMENTS[ARGUMENTS.index("--port") + 1])
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    main()
