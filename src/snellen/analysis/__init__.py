"""Results, and analyses of several results: comparisons, contamination, capabilities.

This package may import the registry, scoring, stores, and statistics, but no code that sends
requests to a model. Start with `result.py`, then `comparing/__init__.py`.
"""
