"""What all heavy tests need: torchvision beside a torch for the CPU alone.

The file of it that is pinned is linked to CUDA, so that its compiled part cannot be loaded. What is
written in Python, as the video processors of transformers need it, works once the operators that
it names are declared. A server would decode pictures with the compiled part; processes that tests
start go without torchvision, as servers do where it is not installed.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

HIDES = Path(__file__).with_name("no_torchvision")
collect_ignore = [HIDES.name]  # looking for doctests would run it here


@pytest.fixture(scope="module", autouse=True)
def torchvision() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if importlib.util.find_spec("torchvision"):
            declared()
            paths = [str(HIDES), os.environ.get("PYTHONPATH", "")]
            patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
        yield


@cache
def declared() -> Any:
    """The operators; they are there as long as this is."""
    import torch

    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    return library
