"""Finds, checks, and decodes the images and videos in messages, and draws pictures and clips.

May import only errors. No other package of Snellen imports Pillow or PyAV. Start with `content.py`,
then `images.py`.
"""
