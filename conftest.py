"""Leaves modules out whose import needs packages that are not installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("transformers") else ["src/snellen/training.py"]
