"""What is said of near-duplicates and of what is in a corpus."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from snellen.analysis.contamination import Contamination, Corpus, Duplicate, FoundIn, Overlap, Share
from snellen.analysis.result import percent, shown

SHARED = ("benchmark", "with", "same question", "other answer", "same file", "near picture")
IN_CORPUS = ("what of a sample is there", "samples", "share")
EFFECTS = ("found by", "found", "n", "clean", "n", "found less clean", "95 % interval", "remark")
BY = {"text": "question", "picture": "picture", "both": "question and picture"}


Table = tuple[str, Sequence[str], list[Sequence[str]], list[str]]
"""A title, headings, rows, and lines below them."""


def tables(one: Contamination) -> Iterator[Table]:
    """A table for each part of the result."""
    compared = ", ".join(
        f"{of.name} ({of.samples:,} samples, {of.pictures:,} pictures)" for of in one.benchmarks
    )
    below = [line for overlap in one.overlaps for line in _examples(overlap)]
    yield f"shared: {compared}", SHARED, [_shared(overlap) for overlap in one.overlaps], below
    if one.corpus is not None:
        showing = {of.name for of in one.benchmarks if of.pictures}
        yield from _of_corpus(one.corpus, showing)
    if one.effects:
        rows: list[Sequence[str]] = []
        for effect in one.effects:
            found, clean, less = map(shown, (effect.found, effect.clean, effect.difference))
            parts = (found.value, found.n, clean.value, clean.n)
            rows.append((BY[effect.by], *parts, less.value, less.interval, less.remark))
        yield f"the mean score on what was found, {one.run}", EFFECTS, rows, []


def _of_corpus(corpus: Corpus, showing: Collection[str]) -> Iterator[Table]:
    """`showing` are the benchmarks with pictures: of others nothing is said about them."""
    parts = ((corpus.rows, "row"), (corpus.files, "file"), (corpus.pictures, "picture"))
    rows, files, pictures = (f"{n:,} {name}{'s' * (n != 1)}" for n, name in parts)
    read = f"{rows} of {files} with {pictures}"
    for found in corpus.found:
        title = f"{found.benchmark}, {found.samples:,} samples, in {read}"
        shares = _shares(found, showing=found.benchmark in showing)
        yield title, IN_CORPUS, [_in_corpus(what, of) for what, of in shares], []


def _shared(one: Overlap) -> Sequence[str]:
    # Of one benchmark it is no news that files come again: many ask several questions of one.
    files = "-" if one.a == one.b else f"{one.same_pictures:,}"
    questions, conflicting = f"{one.questions:,}", f"{one.conflicting:,}"
    other = "itself" if one.a == one.b else one.b
    return one.a, other, questions, conflicting, files, f"{one.near_pictures:,}"


def _examples(one: Overlap) -> Iterator[str]:
    for duplicate in one.examples[:3]:
        yield _told(duplicate)


def _told(one: Duplicate) -> str:
    """`mathvision 1050 and 773: near picture (0.88)`"""
    (first, a), (second, b) = one.a, one.b
    which = f"{first} {a} and {b}" if first == second else f"{first} {a} and {second} {b}"
    alike = []
    if one.text is not None:
        alike.append("same words" if one.text == 1 else f"near words ({one.text:.2f})")
    if one.picture is not None:
        alike.append("same picture" if one.picture == 1 else f"near picture ({one.picture:.2f})")
    said = f"{which}: {', '.join(alike)}"
    if one.answers is not None:
        said += f"; right is {one.answers[0]!r} and {one.answers[1]!r}"
    return said


def _shares(one: FoundIn, *, showing: bool) -> Iterator[tuple[str, Share]]:
    if showing:
        yield "question and picture in one row", one.both
    yield "the answer beside the question", one.answered
    yield "the whole question", one.text_same
    yield "most of the question", one.text_near
    if showing:
        yield "the same picture file", one.picture_same
        yield "nearly the same picture", one.picture_near


def _in_corpus(what: str, of: Share) -> Sequence[str]:
    return what, f"{of.n:,}", percent(of.share)
