"""The rows of other tools' logs under the same columns.

The columns are no names that a file could have for columns of its own.
"""

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
