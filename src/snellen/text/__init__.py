"""Functions that tokenize, normalize, and compare text, parse numbers, and format amounts.

The packages `answers` and `metrics` use these functions. This package may not import any other
package of Snellen. Start with `english.py`.
"""
