"""Images and videos: what a message holds, found, checked, decoded, and drawn.

May import nothing but errors. The only room that imports Pillow and PyAV.
Start with `content.py`, then `images.py`.
"""
