"""Parses the answer in a reply: a letter, yes or no, a number, or a phrase.

May import text and core. Each kind of answer has its own file.
Start with `choice.py`.
"""
