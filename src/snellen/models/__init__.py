"""The back ends (one per file), the wrappers around models, and the servers and replicas that run
models (`executors/`).

This package may import core, media, transport, and stores. A back end never imports another. Read
`openai.py` first, then `service.py`.
"""
