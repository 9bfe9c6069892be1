"""Lets a model that only answers decide when to speak: after each frame, the model is asked whether
there is something to say about its open questions.

Such a question is a poll. A model without a token for silence stays silent by replying with
`SILENCE`. (MMDuet2, arXiv 2512.06810, also has silence as plain text.)
"""

from __future__ import annotations

from collections.abc import Sequence

from snellen.core.model import Query

SILENCE = "NO REPLY"
"""The reply to a poll with which a model stays silent."""
POLL = (
    "\nHas the video just shown something that you should say now? If so, say it and nothing else. "
    f"If not, reply with {SILENCE}."
)
"""The text of a poll. The open questions are already in the model's context."""
VERSION = 1
"""The version of polls. Increment this number when the text of a poll or the rule for silence
changes."""
QUOTES = "\"'*`\u201c\u2018"


def poll_about(queries: Sequence[Query]) -> Query:
    """Create a poll about open questions. The poll has the id of its question, or no id if there
    are several."""
    first = queries[0]
    return Query(
        id=first.id if len(queries) == 1 else "",
        text=POLL,
        max_tokens=first.max_tokens,
        stop=first.stop,
    )


def is_silent(text: str) -> bool:
    """Whether a reply to a poll means silence: the reply is empty, or begins with `SILENCE`.

    >>> is_silent("NO REPLY."), is_silent(" "), is_silent("No reply came from the man.")
    (True, True, False)
    """
    content = text.strip().lstrip(QUOTES)
    return not content or content.startswith(SILENCE)
