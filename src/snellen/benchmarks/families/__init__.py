"""Code that several benchmarks share, and the benchmarks for a user's own rows.

Files here may import what benchmarks may import, but not the file of a single benchmark. Start with
`tasks.py`, which has five tasks with their prompts and rules.
"""
