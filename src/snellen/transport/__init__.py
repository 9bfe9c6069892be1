"""HTTP: JSON bodies to a model's server, and files from any server. The only room that imports the
HTTP client.

It returns a status and bytes, or raises an error that says why nothing came. The back end
interprets the status, and the runner decides on retries. It may import only errors.
Start with `posting.py`, then `downloads.py`.
"""

from snellen.transport.downloads import Downloads, FileHead
from snellen.transport.posting import Event, Response, Transport

__all__ = ["Downloads", "Event", "FileHead", "Response", "Transport"]
