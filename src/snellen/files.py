"""Files that a row, a profile, or a user names: only regular ones are opened."""

import errno
import os
import stat
from pathlib import Path

KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def check_regular(path: str | Path) -> None:
    """Refuse anything but a regular file: opening a named pipe or a device can block forever.

    Raises:
        OSError: there is no such file, or it is of another kind.
    """
    mode = os.stat(path).st_mode
    for is_kind, kind in KINDS:
        if is_kind(mode):
            raise OSError(errno.EINVAL, f"it is {kind}, not a regular file", str(path))
