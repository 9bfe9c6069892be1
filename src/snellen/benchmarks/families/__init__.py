"""Code that several benchmarks share, and the benchmarks for a user's own rows.

Files in this folder may import the same packages as a benchmark's file, but must not import a
benchmark. Start reading at `tasks.py`, which defines five tasks with their prompts and rules.
"""
