"""Locks: on a file system that cannot keep a second process out, and seen from another machine."""

import errno
import fcntl
import os
from pathlib import Path

import pytest

from snellen.errors import StoreError
from snellen.store import Folder, check_shared, sharing_lock


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


def test_a_machine_that_sees_the_lock_of_another_shares_its_folder_of_runs(tmp_path: Path) -> None:
    with sharing_lock(tmp_path / "runs") as path, sharing_lock(tmp_path / "runs"):
        check_shared(path)


def test_a_machine_that_does_not_see_the_lock_has_another_folder_or_no_locks(
    tmp_path: Path,
) -> None:
    with sharing_lock(tmp_path / "runs") as path:
        pass
    for unseen in (path, tmp_path / "elsewhere" / path.name):
        with pytest.raises(
            StoreError, match=r"not the same folder on this node .* or an object store"
        ):
            check_shared(unseen)
