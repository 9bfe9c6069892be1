"""HTTP: posts JSON bodies to a model's server, and downloads files from any server.

This package returns a status and bytes, or raises an error that states why there is no reply. The
back end interprets the status, and the runner decides about retries. No other package imports the
HTTP client. The only Snellen module that this package may import is `errors`. Read `posting.py`
first, then `downloads.py`.
"""

from snellen.transport.downloads import Downloads, FileHead
from snellen.transport.posting import Event, Response, Transport

__all__ = ["Downloads", "Event", "FileHead", "Response", "Transport"]
