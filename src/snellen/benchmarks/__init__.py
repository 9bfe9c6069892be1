"""The benchmarks. Each file defines one benchmark: its rows, prompts, and scorings. `families/` has
shared code.

A benchmark's file may import core, data, media, answers, metrics, and interop, but not another
benchmark. Start reading at `docvqa.py`, one of the shortest files.
"""
