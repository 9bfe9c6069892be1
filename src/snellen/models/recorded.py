"""recorded/RUN: the replies of a run, again, to the same requests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from snellen.core.model import Ranked, Reply, Request, loaded, request_digest
from snellen.core.profile import Profile
from snellen.errors import Rejected
from snellen.store import ReplyRecord, Run


def open_model(name: str, *, profile: Profile, api_key: str | None) -> Recorded:
    """The replies of the run folder `name`.

    Raises:
        StoreError: it is no run folder.
    """
    run = Run(Path(name))
    run.manifest()
    replies = {
        record.request: record.as_reply()
        for record in run.replies()
        if isinstance(record, ReplyRecord) and record.state != "failed"
    }
    return Recorded(f"recorded/{name}", replies)


class Recorded:
    """Answers by request digest; the table is a run's, or a dummy's that knows the answers."""

    takes_tools = True
    wants_frames = False

    def __init__(self, name: str, replies: Mapping[str, Reply]) -> None:
        self.name = name
        self._replies = replies

    async def generate(self, request: Request) -> Reply:
        """The reply to this very request: same words, same media, same settings and seed.

        Raises:
            Rejected: there is none.
        """
        reply = self._replies.get(request_digest(loaded(request)))
        if reply is None:
            raise Rejected(
                f"{self.name} has no reply to this request: it was recorded with other words, "
                "media, settings or seed."
            )
        return reply

    async def rank(self, request: Request) -> tuple[Ranked, ...]:
        """The choices' log-probabilities that were recorded; `Rejected` as for `generate`."""
        return (await self.generate(request)).choices
