"""recorded/RUN: gives the replies of an earlier run to the same requests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from snellen.core.model import Ranked, Reply, Request, loaded, request_digest
from snellen.core.profile import Profile
from snellen.errors import Rejected
from snellen.store import ReplyRecord, Run


def open_model(name: str, *, profile: Profile, api_key: str | None) -> Recorded:
    """Open the replies in the run folder `name`.

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
    """Looks up replies by the digest of the request. The replies come from an earlier run, or from
    a dummy model that knows the answers."""

    takes_tools = True
    takes_pictures_in_results = True
    wants_frames = False

    def __init__(self, name: str, replies: Mapping[str, Reply]) -> None:
        self.name = name
        self._replies = replies

    async def generate(self, request: Request) -> Reply:
        """Return the recorded reply to a request with the same text, media, settings, and seed.

        Raises:
            Rejected: no reply to such a request was recorded.
        """
        reply = self._replies.get(request_digest(loaded(request)))
        if reply is None:
            raise Rejected(
                f"{self.name} has no reply to this request, because it was recorded with different "
                "text, media, settings, or seed."
            )
        return reply

    async def rank(self, request: Request) -> tuple[Ranked, ...]:
        """Return the recorded log-probabilities of the choices. This raises the same errors as
        `generate`."""
        return (await self.generate(request)).choices
