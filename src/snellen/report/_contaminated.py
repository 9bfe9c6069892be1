"""Prepares the tables of near-duplicates, and of samples that were found in a corpus."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from snellen.analysis.contamination import Contamination, Corpus, Duplicate, FoundIn, Overlap, Share
from snellen.analysis.result import shown
from snellen.text.amounts import percent

SHARED = ("benchmark", "with", "same question", "other answer", "same file", "similar picture")
IN_CORPUS = ("part in the corpus", "samples", "share")
EFFECTS = (
    *("matched by", "contaminated", "n", "clean", "n"),
    *("contaminated minus clean", "95 % interval", "remark"),
)
BY = {"text": "question", "picture": "picture", "both": "question and picture"}


Table = tuple[str, Sequence[str], list[Sequence[str]], list[str]]
"""A table: the title, the headings, the rows, and the lines below the rows."""


def tables(contamination: Contamination) -> Iterator[Table]:
    """The tables of the result: near-duplicates, samples in the corpus, and the effect on a run's
    scores."""
    compared = ", ".join(
        f"{benchmark.name} ({benchmark.samples:,} samples, {benchmark.pictures:,} pictures)"
        for benchmark in contamination.benchmarks
    )
    below = [line for overlap in contamination.overlaps for line in _examples(overlap)]
    yield (
        f"shared: {compared}",
        SHARED,
        [_shared(overlap) for overlap in contamination.overlaps],
        below,
    )
    if contamination.corpus is not None:
        showing = {benchmark.name for benchmark in contamination.benchmarks if benchmark.pictures}
        yield from _of_corpus(contamination.corpus, showing)
    if contamination.effects:
        rows: list[Sequence[str]] = []
        for effect in contamination.effects:
            contaminated, clean, less = map(shown, (effect.found, effect.clean, effect.difference))
            parts = (contaminated.value, contaminated.n, clean.value, clean.n)
            rows.append((BY[effect.by], *parts, less.value, less.interval, less.remark))
        yield (
            f"mean score on contaminated and clean samples, {contamination.run}",
            EFFECTS,
            rows,
            [],
        )


def _of_corpus(corpus: Corpus, showing: Collection[str]) -> Iterator[Table]:
    """A table for each benchmark. `showing` contains the names of the benchmarks with pictures; the
    tables of other benchmarks have no rows about pictures."""
    parts = ((corpus.rows, "row"), (corpus.files, "file"), (corpus.pictures, "picture"))
    rows, files, pictures = (f"{n:,} {name}{'s' * (n != 1)}" for n, name in parts)
    read = f"{rows} of {files} with {pictures}"
    for presence in corpus.found:
        title = f"{presence.benchmark}, {presence.samples:,} samples, in {read}"
        shares = _shares(presence, showing=presence.benchmark in showing)
        yield title, IN_CORPUS, [_in_corpus(what, of) for what, of in shares], []


def _shared(overlap: Overlap) -> Sequence[str]:
    # Within a benchmark, repeated files are normal, because many benchmarks ask several questions
    # about one file. So they are not counted.
    files = "-" if overlap.a == overlap.b else f"{overlap.same_pictures:,}"
    questions, conflicting = f"{overlap.questions:,}", f"{overlap.conflicting:,}"
    other = "itself" if overlap.a == overlap.b else overlap.b
    return overlap.a, other, questions, conflicting, files, f"{overlap.near_pictures:,}"


def _examples(overlap: Overlap) -> Iterator[str]:
    for duplicate in overlap.examples[:3]:
        yield _duplicate_line(duplicate)


def _duplicate_line(duplicate: Duplicate) -> str:
    """A line about two similar samples, such as `mathvision 1050 and 773: similar picture
    (0.88)`."""
    (first, a), (second, b) = duplicate.a, duplicate.b
    which = f"{first} {a} and {b}" if first == second else f"{first} {a} and {second} {b}"
    alike = []
    if duplicate.text is not None:
        alike.append(
            "same words" if duplicate.text == 1 else f"similar words ({duplicate.text:.2f})"
        )
    if duplicate.picture is not None:
        alike.append(
            "same picture"
            if duplicate.picture == 1
            else f"similar picture ({duplicate.picture:.2f})"
        )
    line = f"{which}: {', '.join(alike)}"
    if duplicate.answers is not None:
        line += f"; the answers are {duplicate.answers[0]!r} and {duplicate.answers[1]!r}"
    return line


def _shares(presence: FoundIn, *, showing: bool) -> Iterator[tuple[str, Share]]:
    if showing:
        yield "question and picture in one row", presence.both
    yield "question with its answer", presence.answered
    yield "full question", presence.text_same
    yield "most of the question", presence.text_near
    if showing:
        yield "same picture file", presence.picture_same
        yield "similar picture", presence.picture_near


def _in_corpus(what: str, of: Share) -> Sequence[str]:
    return what, f"{of.n:,}", percent(of.share)
