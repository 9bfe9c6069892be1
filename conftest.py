"""Leaves out modules that cannot be imported here: their packages are not installed, or they are
the code of made-up checkpoints, which transformers loads from their folders. Collects the tests
without the garbage collector, which would look through all of them again and again."""

import gc
from collections.abc import Generator
from importlib.util import find_spec

import pytest

collect_ignore = [] if find_spec("transformers") else ["src/snellen/training.py"]
collect_ignore_glob = ["tests/data/own-code/*"]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
