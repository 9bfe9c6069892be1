"""Results and what follows from several: comparisons, contamination, capabilities.

May import the registry, scoring, stores, and statistics; nothing that asks a model.
Start with `result.py`, then `comparing/__init__.py`.
"""
