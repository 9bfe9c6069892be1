"""Leaves out modules that cannot be imported here: their packages are not installed, or they are
the code of made-up checkpoints, which transformers loads from their folders."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("transformers") else ["src/snellen/training.py"]
collect_ignore_glob = ["tests/data/own-code/*"]
