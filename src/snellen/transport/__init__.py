"""HTTP: posts JSON bodies to a model's server, and downloads files from any server.

This package returns a status and bytes, or raises an error that states why there is no reply. The
back end interprets the status, and the runner decides about retries. No other package imports the
HTTP client. The only Snellen modules that this package may import are `errors` and `lazy`. Read
`posting.py` first, then `downloads.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen import lazy

if TYPE_CHECKING:
    from snellen.transport.downloads import Downloads as Downloads, FileHead as FileHead
    from snellen.transport.posting import (
        Event as Event,
        Response as Response,
        Transport as Transport,
    )

_FILES = {
    "Downloads": "downloads",
    "Event": "posting",
    "FileHead": "downloads",
    "Response": "posting",
    "Transport": "posting",
}
__all__ = [*_FILES]
__getattr__ = lazy.attributes(__name__, _FILES)
