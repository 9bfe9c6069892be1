"""A run folder on a file system that cannot keep a second process out."""

import errno
import fcntl
import os
from pathlib import Path

import pytest

from snellen.errors import StoreError
from snellen.store import Folder


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS])
def test_a_file_system_without_locks_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(fd: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(StoreError) as caught, Folder(tmp_path).lock():
        pass

    assert str(caught.value) == (
        f"{tmp_path / 'lock'} cannot be locked: {os.strerror(number)}. "
        "The file system does not support locks. Choose another folder with --out."
    )
