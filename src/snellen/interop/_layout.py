"""The rows of other tools' logs under the same columns.

The columns are no names that a file could have for columns of its own.
"""

from snellen.errors import DataError

ID = "(id)"
"""The sample's id."""
REPEAT = "(repeat)"
"""The number of the repeat, from 0."""
REPLY = "(reply)"
"""The text of the reply; None if there is none."""
QUESTION = "(question)"
"""The text of the question."""
CHOICES = "(choices)"
"""The texts of the choices, in the order that the model saw."""
MOST_REPEATS = 10_000


def choices_of(value: object, label: str) -> list[str]:
    """The choices of a question; empty if the row has none.

    Raises:
        DataError: it is no list of texts.
    """
    if value is None:
        return []
    if isinstance(value, list) and all(isinstance(choice, str) for choice in value):
        return value
    raise DataError(f"{label} has choices that are not a list of texts.")


def repeat_of(value: object, label: str) -> int:
    """The number of a repeat, from 0.

    Raises:
        DataError: it is no such number.
    """
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_REPEATS:
        return value
    raise DataError(
        f"{label} has {value!r} for the number of its repeat; it must be from 0 to "
        f"{MOST_REPEATS - 1:,}."
    )
