"""Names to objects: benchmarks, models, metrics, suites, keys.

May import what it names, and imports it when it is first named; alone reads keys.
Start with `catalog.py`: `benchmark()` and `model()`.
"""
