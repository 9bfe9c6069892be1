"""Answers parsed out of responses: letters, yes or no, numbers, phrases.

May import text and core. A file each kind of answer.
Start with `choice.py`.
"""
