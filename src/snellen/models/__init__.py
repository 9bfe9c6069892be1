"""The back ends, one per file, the wrappers around them, and `executors/` (servers and replicas).

This package may import core, media, transport, and stores. A back end never imports another. Start
with `openai.py`, then `service.py`.
"""
