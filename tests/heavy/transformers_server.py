"""`transformers serve` on a port of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.heavy.conftest import HIDES

PLAIN = "transformers.cli.transformers"
WITH_TORCHVISION = "tests.heavy.serve_with_torchvision"


@contextmanager
def serving_model(model: Path, module: str = PLAIN) -> Iterator[str]:
    """Serve the model in a folder; gives the server's address. Its log is next to the folder. A
    model whose processor also takes videos needs the module `WITH_TORCHVISION`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", module, "serve", str(model)]
    command += ["--device", "cpu", "--dtype", "float32", "--port", str(port)]
    log = model.parent / "serve.log"
    env = quiet()
    if module == WITH_TORCHVISION:
        folders = env.get("PYTHONPATH", "").split(os.pathsep)
        env["PYTHONPATH"] = os.pathsep.join(path for path in folders if path != str(HIDES))
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=env)
    try:
        _wait_for(f"http://127.0.0.1:{port}", process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def quiet() -> dict[str, str]:
    return {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        if process.poll() is not None:
            break
        try:
            urllib.request.urlopen(f"{url}/health", timeout=5)
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"transformers serve did not start:\n{log.read_text()[-2000:]}")
