"""The benchmarks. Each file defines one: its rows, prompts, and scorings. `families/` has shared
parts.

A file may import core, data, media, answers, metrics, and interop, but not another benchmark. Start
with `docvqa.py`, one of the shortest.
"""
