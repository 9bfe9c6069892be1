"""The Ray cluster that this process uses: an existing cluster, or a new cluster on this machine
only.

Ray: ray-project/ray@ray-2.60.0, python/ray/scripts/scripts.py#start.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, ClassVar

from snellen.errors import UsageError

SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": "0",
    # Ray prints logs to standard output, which is for reports and JSON.
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",
}
"""Environment variables that configure Ray. These variables must be set before Ray is imported."""
WATCH = Path(__file__).with_name("_watch.py")
CONNECTING = 10.0
STARTING = 120.0
"""The maximum number of seconds until a cluster that we start is ready."""
STORE = 100 << 20
"""The size of Ray's object store, in bytes, in a cluster that we start. The store holds only a few
objects."""
RAYS_OWN = (":job_id:", ":actor_name:", ":task_name:")
"""Prefixes of the marker lines that Ray writes into a worker's log."""
LAST_WORDS = 1000
"""The maximum number of characters that messages quote from a log."""


class Cluster:
    """A connection to a Ray cluster. The connection stays open until its last holder releases it.

    A process that is already in a cluster uses that cluster. A process that is in no cluster joins
    an existing cluster, or starts a new cluster on this machine. A new cluster always ends with the
    process that started it.
    """

    held: ClassVar[Cluster | None] = None

    def __init__(self, address: str | None) -> None:
        import ray

        self.ray: Any = ray
        self.is_own = False
        self.folder: Path | None = None
        self._holders = 0
        self._watch: subprocess.Popen[bytes] | None = None
        self._joins = not ray.is_initialized()
        self.address = address
        if not self._joins:
            self.address = ray.get_runtime_context().gcs_address
            return
        handler = signal.getsignal(signal.SIGTERM)
        with ExitStack() as stack:  # also runs after Ctrl-C
            stack.callback(self._stop)
            if address is None:
                self.is_own = True
                self.address = address = self._started()
            elif address != "auto":
                _check_listens(address)
            stack.callback(ray.shutdown)
            try:
                ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
            except Exception as error:  # Ray's errors about addresses have no common class
                why = f"the Ray cluster {address} cannot be joined: {error}"
                if not self.is_own:
                    # Ray says this only on standard error, among other lines.
                    why += (
                        " If the cluster requires a token, set RAY_AUTH_MODE=token on this machine "
                        "too."
                    )
                raise UsageError(why) from error
            stack.pop_all()
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)

    @classmethod
    def hold(cls, address: str | None) -> Cluster:
        """Add a holder to the cluster, and join or start the cluster if necessary.

        Raises:
            UsageError: this process is in another cluster, or cannot join or start a cluster.
        """
        cluster = cls.held or cls(address)
        if address not in (None, "auto", cluster.address):
            raise UsageError(
                f"this process is already in the Ray cluster {cluster.address}, so it cannot join "
                f"{address}."
            )
        cls.held = cluster
        cluster._holders += 1
        return cluster

    def release(self) -> None:
        self._holders -= 1
        if self._holders:
            return
        Cluster.held = None
        if self._joins:
            self.ray.shutdown()
        self._stop()

    def resources(self) -> Mapping[str, float]:
        resources: Mapping[str, float] = self.ray.cluster_resources()
        return resources

    def last_words(self, pid: int) -> str:
        """Return the end of a worker's log, for messages. If we did not start the cluster, return
        an empty text."""
        if self.folder is None:
            return ""
        logs = self.folder / "session_latest/logs"
        files = [*logs.glob(f"worker-*-{pid}.out"), *logs.glob(f"worker-*-{pid}.err")]
        lines = [line for log in files for line in log.read_text(errors="replace").splitlines()]
        text = "\n".join(line for line in lines if not line.startswith(RAYS_OWN)).strip()
        return f" Its log ends in:\n{text[-LAST_WORDS:]}" if text else ""

    def _started(self) -> str:
        """Start a cluster, and return the cluster's address."""
        # The folder holds Ray's sockets, whose paths must be short.
        self.folder = Path(tempfile.mkdtemp(prefix="snellen-ray-", dir="/tmp"))
        log, address = self.folder / "start.log", self.folder / "ray_current_cluster"
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block"]
        command += ["--port=0", "--min-worker-port=0", "--max-worker-port=0", "--num-cpus=0"]
        command += ["--dashboard-agent-grpc-port=0", "--dashboard-agent-listen-port=0"]
        command += ["--include-dashboard=false", "--include-log-monitor=false", "--no-monitor"]
        command += ["--disable-usage-stats"]
        command += [f"--object-store-memory={STORE}", f"--temp-dir={self.folder}"]
        with log.open("wb") as log_file:
            self._watch = subprocess.Popen(
                [sys.executable, "-I", str(WATCH), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=log_file,
                start_new_session=True,  # Ctrl-C goes to the run, which then ends the cluster
            )
        until = time.monotonic() + STARTING
        while not (address.exists() and (started := address.read_text().strip())):
            ended = self._watch.poll() is not None
            if ended or time.monotonic() > until:
                tail = log.read_text(errors="replace").strip()[-LAST_WORDS:]
                how = "it ended" if ended else f"it was not ready within {STARTING:g} s"
                raise UsageError(f"a Ray cluster cannot be started on this machine: {how}.\n{tail}")
            time.sleep(0.05)
        return started

    def _stop(self) -> None:
        """Kill the cluster if we started it. There is no data to save."""
        if self._watch is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._watch.pid, signal.SIGKILL)
            self._watch.wait()
            assert self._watch.stdin is not None
            self._watch.stdin.close()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def _check_listens(address: str) -> None:
    """Check that HOST:PORT accepts connections, since Ray itself would keep trying for minutes.

    Raises:
        UsageError: nothing accepts connections at this address, or the address does not have the
            form HOST:PORT.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isascii() or not port.isdigit():
        raise UsageError(f"the address of a Ray cluster must be HOST:PORT or auto, not {address}.")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECTING).close()
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"there is no Ray cluster at {address}: {error}. Pass the address that `ray start` "
            "prints as --ray-address, or set RAY_ADDRESS to it."
        ) from error
