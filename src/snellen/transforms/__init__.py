"""Changes benchmarks before their questions are asked: probes, few-shot examples, and the prompts
of recipes.

This package may import core, data, the families of benchmarks, and scoring, but no module that
sends requests to a model. Start with `probes.py`.
"""
