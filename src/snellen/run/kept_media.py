"""Checks that the pictures and videos of stored replies are unchanged, before a run is resumed.

Rows refer to files, whose contents are not part of the rows. The record of a question has the
digests of its media. The media are read again only if their files may have changed since the
question was asked.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from snellen.core.benchmark import Benchmark, History
from snellen.core.model import Request, loaded
from snellen.core.sample import Sample
from snellen.data import Row, rows_at
from snellen.errors import DataError, MediaError
from snellen.media.content import user
from snellen.run.recorder import file_of, media_of
from snellen.store import Key, MediaStamps, Question, Run

ALWAYS_READ = 3
"""The number of questions whose media are always read. A benchmark may read its pictures itself, so
that their files are not known."""
LISTED = 5
"""The maximum number of rows that an error lists."""

Digests = tuple[str | None, ...]
"""The digests of the media of a question, in order. A medium that could not be read has None."""


class _StoredMedia(NamedTuple):
    """The media of a stored question."""

    row: str
    """The digest of the row."""
    digests: Digests
    """The digests of the media that are compared."""
    sent: Digests
    """The digests of the media of the prompt. With a model's own prompt, these are not compared."""
    is_known: bool
    """Whether the stamps of the media's files are known."""


class MediaCheck:
    """Checks the media of a loaded run. With `own_prompt`, the model got a prompt of its own, so
    the sample's media are compared, and not those of the prompt."""

    def __init__(self, run: Run, benchmark: Benchmark, *, own_prompt: bool) -> None:
        self._run = run
        self._benchmark = benchmark
        self._own_prompt = own_prompt
        self._stamps: MediaStamps = run.media_stamps

    def check(self) -> None:
        """Check the media of all replies that are kept.

        Raises:
            DataError: a picture or video has changed.
        """
        stored = self._stored()
        changed = [
            row.position
            for row in rows_at(self._benchmark.data, stored)
            if self._has_changed(row, stored[row.position])
        ]
        if changed:
            raise self._error(changed)
        self._stamps.note_checked()

    def _stored(self) -> dict[int, dict[Key, _StoredMedia]]:
        """The media of the questions that must be checked, keyed by row and key."""
        known, has_changes = self._stamps.compare()
        stored: dict[int, dict[Key, _StoredMedia]] = defaultdict(dict)

        def add(question: Question, is_known: bool) -> None:
            shown = question.sample_media if self._own_prompt else question.media
            if shown and question.key.step == 0 and self._run.has_reply(question.key):
                digests = tuple(medium.digest for medium in shown)
                sent = tuple(medium.digest for medium in question.media)
                media = _StoredMedia(question.row, digests, sent, is_known)
                stored[question.place].setdefault(question.key, media)

        for question in self._run.first_questions(ALWAYS_READ):
            add(question, False)
        for line, question in self._run.appended_questions({} if has_changes else known):
            add(question, line.offset < known.get(line.file, 0))
        return stored

    def _has_changed(self, row: Row, stored: dict[Key, _StoredMedia]) -> bool:
        """Whether a question of a row now shows other media than when it was answered."""
        sample = self._benchmark.read(row)
        return any(
            self._differs(key, request, stored[key])
            for repeat in sorted({key.repeat for key in stored})
            for key, request in self._requests(sample, repeat)
            if key in stored and stored[key].row == row.digest
        )

    def _requests(self, sample: Sample, repeat: int) -> Iterator[tuple[Key, Request]]:
        """The requests of a sample that have a stored reply, with the media that are compared."""
        history: History = ()
        while True:
            key = Key(sample.id, repeat, len(history))
            request = self._benchmark.request(sample, history)
            record = None if request is None else self._run.final(key)
            if request is None or record is None:
                return
            own = (user(*sample.media),)
            yield key, replace(request, messages=own) if self._own_prompt else request
            history = (*history, (request.messages, record.as_reply()))

    def _differs(self, key: Key, request: Request, stored: _StoredMedia) -> bool:
        paths = {path for medium in media_of(request) if (path := file_of(medium)) is not None}
        if stored.is_known and all(map(self._stamps.is_unchanged, paths)):
            return False
        for path in paths:
            self._stamps.note(path)
        try:
            now = tuple(medium.digest for medium in media_of(loaded(request)))
        except MediaError:
            return False  # the error is reported when the question is asked
        before = self._digests(key, stored)
        return len(before) == len(now) and not all(
            digest in (None, digest_now) for digest, digest_now in zip(before, now, strict=True)
        )

    def _digests(self, key: Key, stored: _StoredMedia) -> Digests:
        """The digests of the media that the model got with a question; empty if not known."""
        record = self._run.final(key)
        assert record is not None
        seen = tuple(medium.digest for medium in record.media)
        if not seen or seen == stored.sent:
            return stored.digests
        # The media had changed before the question was asked again after a failure.
        return () if self._own_prompt else seen

    def _error(self, changed: Sequence[int]) -> DataError:
        procedure = self._benchmark.procedure
        media = "videos" if procedure.frames or procedure.kind == "session" else "pictures"
        rows = ", ".join(f"{position + 1:,}" for position in changed[:LISTED])
        more = len(changed) - LISTED
        rest = f" and {more:,} more" if more > 0 else ""
        path = self._run.path
        return DataError(
            f"{self._benchmark.name}: the {media} of row{'s' * (len(changed) > 1)} {rows}{rest} of "
            f"{self._benchmark.data.where} differ from those of the same questions in "
            f"{path}. Restore the {media}, or choose another folder with --out. With --reuse "
            f"{shlex.quote(f'{path}')}, only questions whose {media} have changed are asked there."
        )
