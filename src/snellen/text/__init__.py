"""Functions that tokenize, normalize, and compare text, parse numbers, and format amounts.

The rooms `answers` and `metrics` build on it. May import nothing of ours. Start with `english.py`.
"""
