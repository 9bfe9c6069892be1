"""Ray clusters on this machine, of one node or more."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

STARTING = 90.0


@contextmanager
def own_cluster(cpus: int = 4) -> Iterator[str]:
    """A cluster, which ends with the context; gives its address. Processes that start meanwhile
    have its token in their environment."""
    from snellen.models.executors.cluster import SETTINGS

    with pytest.MonkeyPatch.context() as patch:
        for name, value in SETTINGS.items():
            patch.setenv(name, value)
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        patch.setenv("OMP_NUM_THREADS", "1")
        with tempfile.TemporaryDirectory(
            prefix="ray-test-", dir="/tmp", ignore_cleanup_errors=True
        ) as folder:
            address = Path(folder, "ray_current_cluster")
            with node(f"{folder}/log", "--head", "--port=0", f"--temp-dir={folder}", cpus=cpus):
                wait_for(lambda: address.exists() and address.read_text().strip())
                yield address.read_text().strip()


@contextmanager
def node(log: str, *where: str, cpus: int) -> Iterator[int]:
    """A node of a cluster; gives the group of its processes, which ends here."""
    from snellen.models.executors.cluster import WATCH

    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", *where]
    command += ["--min-worker-port=0", "--max-worker-port=0", "--dashboard-agent-grpc-port=0"]
    command += ["--dashboard-agent-listen-port=0", "--object-store-memory=104857600"]
    with (
        open(log, "wb") as file,
        subprocess.Popen(
            [sys.executable, "-I", str(WATCH), *command, f"--num-cpus={cpus}", "--num-gpus=0"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=file,
            start_new_session=True,
        ) as process,
    ):
        yield process.pid
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def wait_for(what: Callable[[], Any], seconds: float = STARTING) -> Any:
    """Wait until a function gives something true, and return that."""
    until = time.monotonic() + seconds
    while not (actual := what()):
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.02)
    return actual
