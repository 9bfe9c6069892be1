"""One file a benchmark: its rows, its prompt, its scorings. `families/` is what several share.

May import core, data, media, answers, metrics, and interop; no benchmark imports another.
Start with `docvqa.py`, one of the shortest.
"""
