"""A worker of `worker_process.py` that fails as a library can fail."""

import os
import time

from snellen.benchmarks.families.worker_process import MEMORY, serve


def same(answer: bool, seconds: float = 0.0, fault: str = "") -> bool:
    """Return the answer after some seconds, or after a fault."""
    time.sleep(seconds)
    if fault == "memory":
        bytearray(MEMORY)
    elif fault == "end":
        os._exit(1)
    elif fault == "print":
        print("false")
    return answer


def load() -> None:
    time.sleep(float(os.environ.get("START_S", "0")))
    if "WITHOUT_LIBRARY" in os.environ:
        raise ImportError("No module named 'library'")


if __name__ == "__main__":
    serve(same, load)
