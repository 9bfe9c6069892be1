"""Turns errors of the operating system into errors that say what to do."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from snellen.errors import StoreError
from snellen.store._mirror import Mirror

NO_LOCKS = "The file system does not support locks. Choose another folder with --out."


def store_error(path: Path, what: str, error: OSError) -> StoreError:
    remedy = {
        errno.ENOSPC: "The disk is full. Make room and start the same command again; nothing "
        "stored is lost.",
        errno.EDQUOT: "The disk quota is used up. Make room and start the same command again; "
        "nothing stored is lost.",
        errno.EFBIG: "The file has reached a size limit of the system. Raise the limit and start "
        "the same command again.",
        errno.EROFS: "The file system is read-only. Choose another folder with --out.",
        errno.EMFILE: "Each request in flight needs an open file. Raise the limit (`ulimit -Hn`) "
        "or lower --concurrency, and start the same command again; nothing stored is lost.",
        errno.ENOLCK: NO_LOCKS,
        errno.ENOSYS: NO_LOCKS,
        errno.EACCES: "You have no permission to write there. Choose another folder with --out, or "
        "fix its permissions.",
    }.get(error.errno or 0, "")
    where = os.fspath(path)  # for a mirror, the local file, since the problem is there
    if isinstance(path, Mirror):
        remedy = remedy.replace("folder with --out", "folder for mirrors with SNELLEN_MIRROR")
    return StoreError(f"{where} cannot {what}: {error.strerror}. {remedy}".rstrip())
