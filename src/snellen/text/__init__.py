"""Text: rules for reading and comparing it, under answers and metrics, and amounts for people.

May import nothing of ours.
Start with `english.py`.
"""
