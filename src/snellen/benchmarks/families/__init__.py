"""Wiring that several benchmarks share, and benchmarks that are made of a user's own rows.

May import what benchmarks may, and nothing of a single benchmark's file.
Start with `tasks.py`: five tasks with their prompts and rules.
"""
