"""Code that several benchmarks share, and the benchmarks for a user's own rows.

Files in this folder may import the packages that a benchmark's file may import, but no benchmark.
Start reading at `tasks.py`, which defines five tasks with their prompts and rules.
"""
