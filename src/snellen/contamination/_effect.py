"""Whether a run scores higher on samples that were found in a corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal

import msgspec

from snellen import stats
from snellen.benchmark import Benchmark
from snellen.contamination._read import Read
from snellen.contamination._report import Effect
from snellen.contamination._search import Seen
from snellen.errors import StoreError, UsageError
from snellen.scoring import metric_report
from snellen.stats import Estimate, Sums
from snellen.store import SCORES, Run, ScoreRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

By = Literal["text", "picture", "both"]
FOUND: Mapping[By, Callable[[Seen], bool]] = {
    "text": lambda seen: seen.text > 0,
    "picture": lambda seen: seen.picture > 0,
    "both": lambda seen: seen.both,
}


def effects(
    run: Run, benchmark: Benchmark, read: Read, found: Mapping[int, Seen]
) -> tuple[list[Effect], list[str]]:
    """The run's headline scores on the samples that were `found` (by their place) and on all
    others, by what of them was found; and what must be said beside them.

    Raises:
        UsageError: the run has not been scored, or is of other samples.
    """
    import numpy as np

    places = {sample.id: place for place, sample in enumerate(read.samples)}
    scores: list[float] = []
    of: list[int] = []
    others = 0
    for row in _scores(run):
        if row.scoring != benchmark.headline or row.score is None:
            continue
        place = places.get(row.sample)
        if place is None:
            others += 1
            continue
        scores.append(row.score / benchmark.scorings[row.scoring].best)
        of.append(place)
    if not scores:
        raise UsageError(
            f"{run.path} has no {benchmark.headline} score of a sample of {read.name}. Is it a run "
            f"of that benchmark and split, and scored (`snellen score {run.path}`)?"
        )
    notes = [
        f"{others:,} scores of {run.path} are of samples that were not looked up, and in no mean"
    ] * bool(others)
    names: dict[str, int] = {}
    cluster_of = [names.setdefault(sample.cluster, len(names)) for sample in read.samples]
    score, place_of = np.array(scores), np.array(of)
    cluster = np.array(cluster_of)[place_of]
    made = []
    for by, is_found in FOUND.items():
        which = np.zeros(len(read.samples), np.bool_)
        which[[place for place, seen in found.items() if is_found(seen)]] = True
        made.append(_effect(by, score, cluster, which[place_of]))
    return made, notes


def _scores(run: Run) -> Iterator[ScoreRow]:
    decode = msgspec.json.Decoder(ScoreRow).decode
    for name, offset, line in run.folder.records(SCORES):
        try:
            yield decode(line)
        except msgspec.DecodeError as error:
            raise StoreError(
                f"{run.path / name} is damaged at byte {offset}: {error}. `snellen score "
                f"{run.path}` makes it anew."
            ) from error


def _effect(
    by: By,
    score: NDArray[np.float64],
    cluster: NDArray[np.int64],
    found: NDArray[np.bool_],
) -> Effect:
    """Of arrays (n,). The difference is that of two means whose clusters may be the same, by the
    bootstrap of clusters."""
    ours, theirs = (stats.mean(score[which], cluster[which]) for which in (found, ~found))
    return Effect(
        by=by,
        found=metric_report(ours),
        clean=metric_report(theirs),
        difference=metric_report(_difference(ours, theirs, score, cluster, found)),
    )


def _difference(
    ours: Estimate,
    theirs: Estimate,
    score: NDArray[np.float64],
    cluster: NDArray[np.int64],
    found: NDArray[np.bool_],
) -> Estimate:
    if ours.value is None or theirs.value is None:
        side = "found" if ours.value is None else "clean"
        return Estimate(value=None, n=len(score), reason=f"no sample is {side}")
    for one in (ours, theirs):
        if one.reason is not None:
            value = ours.value - theirs.value
            return Estimate(value=value, n=len(score), reason=one.reason)
    of_found, of_clean = (_sums(score, cluster, which) for which in (found, ~found))
    return stats.difference(of_clean, of_found, n=len(score)).estimate


def _sums(score: NDArray[np.float64], cluster: NDArray[np.int64], which: NDArray[np.bool_]) -> Sums:
    """Of every cluster, those too that have none of these rows."""
    import numpy as np

    labels, codes = np.unique(cluster, return_inverse=True)
    sums = [
        np.bincount(codes, weights=weights, minlength=len(labels))
        for weights in (score * which, which.astype(np.float64))
    ]
    return Sums(cluster=labels, sums=np.stack(sums, axis=1), aggregate=stats.ratio)
