"""Images and videos: found, checked, and decoded. The only folder that imports Pillow."""
