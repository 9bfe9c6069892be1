"""One file a back end, wrappers around them, and `executors/`: servers and replicas.

May import core, media, transport, and stores; a back end never imports another.
Start with `openai.py`, then `service.py`.
"""
