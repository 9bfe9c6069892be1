"""What is said of near-duplicates and of what is in a corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from snellen.contamination import Contamination, Duplicate, FoundIn, Overlap, Share
from snellen.result import percent, shown

SHARED = (
    *("benchmark", "shares with", "same question", "of them other answer", "samples"),
    *("same picture file", "near picture", "samples with these"),
)
IN_CORPUS = (
    *("benchmark", "samples", "question", "near question", "picture", "near picture"),
    *("question and picture", "with the answer"),
)
EFFECTS = (
    *("found by", "found", "95 % interval", "n", "clean", "95 % interval", "n"),
    *("found less clean", "95 % interval", "remark"),
)
BY = {"text": "question", "picture": "picture", "both": "question and picture"}


def tables(
    one: Contamination,
) -> Iterator[tuple[str, Sequence[str], list[Sequence[str]], list[str]]]:
    """A title, headings, rows, and lines below them, for each part of the result."""
    compared = ", ".join(
        f"{of.name} ({of.samples:,} samples, {of.pictures:,} pictures)" for of in one.benchmarks
    )
    below = [line for overlap in one.overlaps for line in _examples(overlap)]
    yield f"shared: {compared}", SHARED, [_shared(overlap) for overlap in one.overlaps], below
    if one.corpus is not None:
        title = (
            f"in the corpus: {one.corpus.rows:,} rows of {one.corpus.files:,} files, "
            f"{one.corpus.pictures:,} pictures"
        )
        yield title, IN_CORPUS, [_in_corpus(found) for found in one.corpus.found], []
    if one.effects:
        rows: list[Sequence[str]] = []
        for effect in one.effects:
            found, clean, less = map(shown, (effect.found, effect.clean, effect.difference))
            rows.append((BY[effect.by], *found[:3], *clean[:3], *less[:2], less.remark))
        yield f"the score on what was found, {one.run}", EFFECTS, rows, []


def _shared(one: Overlap) -> Sequence[str]:
    counts = (
        *(one.questions, one.conflicting, one.samples),
        *(one.same_pictures, one.near_pictures, one.with_pictures),
    )
    cells = [f"{n:,}" for n in counts]
    if one.a == one.b:
        cells[3] = "-"  # of one benchmark that is no news: many ask several questions of a file
    return (one.a, "itself" if one.a == one.b else one.b, *cells)


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


def _in_corpus(one: FoundIn) -> Sequence[str]:
    shares = (
        *(one.text_same, one.text_near, one.picture_same, one.picture_near),
        *(one.both, one.answered),
    )
    return (one.benchmark, f"{one.samples:,}", *map(_share, shares))


def _share(one: Share) -> str:
    return f"{one.n:,} ({percent(one.share)})"
