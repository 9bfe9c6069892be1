"""Draw letters for replies in which the authors' code finds no letter."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from random import Random
from string import ascii_uppercase

from snellen.core import Reading, ReplyTable, Resolution, Sample
from snellen.core.scoring import Line


def undecided(sample: Sample) -> Reading:
    """Return a reading without a letter, which will be drawn later."""
    letters = tuple(ascii_uppercase[: len(sample.choices)])
    return Reading(answer=None, rule="drawn", guessed=True, candidates=letters)


def letter_by_id(sample: Sample) -> str:
    """Draw a letter with the sample's id as the seed, so that other samples do not affect the
    letter."""
    # Only random() is guaranteed to give the same numbers in every version of Python.
    return ascii_uppercase[int(Random(sample.id).random() * len(sample.choices))]


def drawn_by_id(reading: Reading, sample: Sample) -> Reading:
    """Draw a letter for a reading that has none, with the sample's id as the seed."""
    return replace(reading, answer=letter_by_id(sample)) if reading.undecided else reading


def by_id(difference: str) -> Callable[[ReplyTable], Resolution]:
    """Create a resolver for draws that cannot be reproduced because the authors' code sets no seed.

    The resolver seeds each draw with the sample's id, and adds a note to the result. The note ends
    with the text in `difference`.
    """

    def resolve(table: ReplyTable) -> Resolution:
        lines = _undecided_lines(table.lines)
        if not lines:
            return Resolution()
        note = (
            "letters that stand for unreadable replies are drawn with the sample's id as the seed. "
            f"{difference}"
        )
        return Resolution(
            readings={line.sample.id: drawn_by_id(line.reading, line.sample) for line in lines},
            notes=(note,),
        )

    return resolve


def in_sequence(
    seed: int, key: Callable[[Line], str], difference: str
) -> Callable[[ReplyTable], Resolution]:
    """Create a resolver that sorts the replies by `key` and draws all letters with one seeded
    generator.

    If the replies come from a user's file, whose order may differ from the authors' order, the
    result gets a note. The note ends with the text in `difference`.
    """

    def resolve(table: ReplyTable) -> Resolution:
        draws = Random(seed)
        # In practice, choice() gives the same draws for a seed in every version of Python. A test
        # checks this.
        readings = {
            line.sample.id: replace(line.reading, answer=draws.choice(line.reading.candidates))
            for line in sorted(_undecided_lines(table.lines), key=key)
        }
        note = (
            "letters that stand for unreadable replies are drawn with the authors' seed, in the "
            f"order of this file's rows. {difference}"
        )
        return Resolution(
            readings=readings, notes=(note,) if readings and table.order == "file" else ()
        )

    return resolve


def _undecided_lines(lines: Iterable[Line]) -> list[Line]:
    return [line for line in lines if line.reading.undecided and line.reading.candidates]
