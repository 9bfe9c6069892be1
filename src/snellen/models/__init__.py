"""The back ends, one per file; the wrappers around models; and, in `executors/`, the servers and
replicas that run models.

This package may import core, media, transport, and stores. A back end never imports another back
end. Read `openai.py` first, then `service.py`.
"""
