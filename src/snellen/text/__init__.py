"""Functions that tokenize, normalize, and compare text, parse numbers, and format amounts.

The rooms `answers` and `metrics` use it. May not import any other room. Start with `english.py`.
"""
