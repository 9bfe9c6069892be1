"""Names the columns to which the rows of other tools' logs are converted.

The column names are in parentheses, so that they do not clash with columns of the file itself.
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
    """The choices of a question; empty if the row has no choices.

    Raises:
        DataError: the choices are not a list of texts.
    """
    if value is None:
        return []
    if isinstance(value, list) and all(isinstance(choice, str) for choice in value):
        return value
    raise DataError(f"{label} has choices that are not a list of texts.")


def repeat_of(value: object, label: str) -> int:
    """The number of a repeat, from 0.

    Raises:
        DataError: the value is not an integer from 0 to `MOST_REPEATS` - 1.
    """
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_REPEATS:
        return value
    raise DataError(
        f"{label} has {value!r} for the number of its repeat; it must be from 0 to "
        f"{MOST_REPEATS - 1:,}."
    )
