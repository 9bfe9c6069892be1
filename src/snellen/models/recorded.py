"""recorded/RUN: a run's replies, given again to the same requests."""

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
        StoreError: `name` is not a run folder.
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
    """Answers by request digest. The table is that of a run, or of a dummy with the answers."""

    takes_tools = True
    wants_frames = False

    def __init__(self, name: str, replies: Mapping[str, Reply]) -> None:
        self.name = name
        self._replies = replies

    async def generate(self, request: Request) -> Reply:
        """The reply to a request with the same words, media, settings, and seed.

        Raises:
            Rejected: the run has no such reply.
        """
        reply = self._replies.get(request_digest(loaded(request)))
        if reply is None:
            raise Rejected(
                f"{self.name} has no reply to this request: it was recorded with other words, "
                "media, settings or seed."
            )
        return reply

    async def rank(self, request: Request) -> tuple[Ranked, ...]:
        """The recorded log-probabilities of the choices. Raises as `generate` does."""
        return (await self.generate(request)).choices
