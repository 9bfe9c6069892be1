"""Images and videos: finds, checks, decodes, and draws the media in messages.

May import only errors. No other package of Snellen imports Pillow or PyAV. Start with `content.py`,
then `images.py`.
"""
