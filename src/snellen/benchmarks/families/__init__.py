"""Code that several benchmarks share, and benchmarks of a user's own rows.

May import the same rooms as benchmarks, but no single benchmark's file.
Start with `tasks.py`: five tasks with their prompts and rules.
"""
