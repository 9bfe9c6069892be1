"""Reading and comparing text: the rules under answers and metrics.

May import nothing of ours.
Start with `english.py`.
"""
