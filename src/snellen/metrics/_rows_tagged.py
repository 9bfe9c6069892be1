"""Selects rows by a tag."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from snellen.metrics._columns import Columns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def rows_tagged(columns: Columns, tag: str, names: Collection[str]) -> NDArray[np.bool_]:
    """A mask (n,) of the rows whose `tag` is one of `names`."""
    import numpy as np

    if tag not in columns.tags:
        raise ValueError(f"no tag {tag!r}; there are: {', '.join(columns.tags) or 'none'}")
    category = columns.tags[tag]
    is_kept = np.array([name in names for name in category.names], dtype=bool)
    return is_kept[category.codes]
