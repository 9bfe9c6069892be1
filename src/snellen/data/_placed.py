"""Writes files that appear only when they are complete."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from snellen.errors import DataError


@contextmanager
def placed(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to. At the end, rename the file to `path`; after an error,
    delete it.

    Raises:
        DataError: The file cannot be written.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        try:
            yield part
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from error
