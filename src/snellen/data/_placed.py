"""Files that are there whole, or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from snellen.errors import DataError


@contextmanager
def placed(path: Path) -> Iterator[Path]:
    """A name to write under; the file takes its own when it is whole, and else is gone.

    Raises:
        DataError: it cannot be written there.
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
