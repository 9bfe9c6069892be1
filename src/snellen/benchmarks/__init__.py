"""The benchmarks, each in a file of its own: rows, prompt, scorings. `families/` has shared parts.

May import core, data, media, answers, metrics, and interop; no benchmark imports another.
Start with `docvqa.py`, one of the shortest.
"""
