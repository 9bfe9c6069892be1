"""Parses the answer in a reply: a letter, yes or no, a value, or a phrase.

May import text and core. There is one file for each kind of answer.
Start with `choice.py`.
"""
