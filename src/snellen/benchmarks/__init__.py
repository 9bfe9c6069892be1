"""The benchmarks. Each file has one: its rows, prompt, and scorings. `families/` has shared parts.

May import core, data, media, answers, metrics, and interop; no benchmark imports another.
Start with `docvqa.py`, one of the shortest.
"""
