"""HTTP: bodies to one server, and files from any. The only room that imports the HTTP client.

It brings back a status and bytes, or says why nothing came. What the status means is the back end's
to say; whether to send again is the runner's. May import nothing but errors.
Start with `posting.py`, then `downloads.py`.
"""

from snellen.transport.downloads import Downloads, FileHead
from snellen.transport.posting import Event, Response, Transport

__all__ = ["Downloads", "Event", "FileHead", "Response", "Transport"]
