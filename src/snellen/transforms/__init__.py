"""Changes benchmarks before their questions are asked: probes and few-shot examples.

This package may import core, data, benchmarks' families, and scoring, but nothing that asks a
model. Start with `probes.py`.
"""
