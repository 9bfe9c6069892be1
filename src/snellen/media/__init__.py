"""Images and videos: finds, checks, decodes, and draws the media in messages.

May import nothing but errors. No other room imports Pillow and PyAV.
Start with `content.py`, then `images.py`.
"""
