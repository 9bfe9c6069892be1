"""What changes a benchmark before it is asked: probes and shots.

May import core, data, benchmarks' families, and scoring; nothing that asks a model.
Start with `probes.py`.
"""
