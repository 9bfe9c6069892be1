"""Hands the readings of the running score to the report, so that no long reply is parsed twice."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b

import orjson

from snellen.core.benchmark import Benchmark, vary
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, Scoring

SHORT = 8
"""Replies of at most this many characters are parsed again, since this is faster than the
lookup."""


class Readings:
    """The readings of one scoring, keyed by digests of the sample's id and the reply.

    Only digests are kept, and equal readings are kept once, so 100,000 readings need about 20 MB.
    """

    def __init__(self, scoring: Scoring) -> None:
        self._parse = scoring.parse
        self._by_digest: dict[bytes, Reading] = {}
        self._equal: dict[Reading, Reading] = {}

    def keep(self, reply: Reply, sample: Sample) -> Reading:
        """Parse a reply, and keep the reading for `parse`."""
        reading = self._parse(reply, sample)
        key = _digest(reply, sample)
        if key is not None:
            try:
                reading = self._equal.setdefault(reading, reading)
            except TypeError:  # an answer of a benchmark may be a list
                return reading
            self._by_digest[key] = reading
        return reading

    def parse(self, reply: Reply, sample: Sample) -> Reading:
        """Return the kept reading of a reply. If there is none, parse the reply."""
        key = _digest(reply, sample) if self._by_digest else None
        reading = None if key is None else self._by_digest.get(key)
        return self._parse(reply, sample) if reading is None else reading

    def used_in(self, benchmark: Benchmark) -> Benchmark:
        """The benchmark, whose scorings with the same parser use the kept readings."""
        parse = self.parse
        scorings = {
            name: replace(scoring, parse=parse) if scoring.parse == self._parse else scoring
            for name, scoring in benchmark.scorings.items()
        }
        return vary(benchmark, scorings=scorings)


def _digest(reply: Reply, sample: Sample) -> bytes | None:
    """A digest of everything in a stored reply that a parser may use. None if the reply is short,
    or if it is not a text."""
    if len(reply.text) <= SHORT or reply.choices or reply.tool_calls:
        return None
    fields = orjson.dumps((sample.id, reply.text, reply.reasoning, reply.stop, reply.sizes))
    return blake2b(fields, digest_size=16).digest()
