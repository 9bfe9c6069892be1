"""What all heavy tests need."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SHIM = Path(__file__).with_name("cpu_torchvision")


@pytest.fixture(scope="module", autouse=True)
def cpu_torchvision() -> Iterator[None]:
    """Torchvision can be imported, here and in the processes that tests start."""
    with pytest.MonkeyPatch.context() as patch:
        if importlib.util.find_spec("torchvision"):
            paths = [str(SHIM), os.environ.get("PYTHONPATH", "")]
            patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
            if SHIM.name not in sys.modules:
                spec = importlib.util.spec_from_file_location(SHIM.name, SHIM / "sitecustomize.py")
                assert spec is not None and spec.loader is not None
                sys.modules[SHIM.name] = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(sys.modules[SHIM.name])
        yield
