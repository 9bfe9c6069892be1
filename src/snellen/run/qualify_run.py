"""Measures how well judges agree with the verdicts of the authors' judge.

The measurement requires published files that contain models' replies and the verdicts of the
authors' judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from statistics import fmean

import msgspec

from snellen import registry
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from snellen.errors import UsageError
from snellen.run import Budget
from snellen.run.lifecycle import Show
from snellen.run.plan import Finished, Plan
from snellen.run.prediction_files import PredictionSet, read_predictions
from snellen.run.qualifications import QUALIFICATION, QUALIFIED, qualification_key
from snellen.run.run_plan import budget_of, run_plan
from snellen.run.unused_options import check_judging
from snellen.scoring import THRESHOLDS, Qualification, VerdictPair, judge, measure
from snellen.store import FORMAT, Run, data_at

TOLERANCE = 0.1
"""The default tolerance for the difference between two scores, as a fraction of the best score."""


@dataclass(frozen=True)
class PublishedReply:
    """A published reply with its published score."""

    model: str
    """The name of the model, which is also the name of the file with its replies."""
    row_index: int
    """The index of the sample's row."""
    sample: Sample
    """The sample."""
    reply: Reply
    """The reply."""
    score: float
    """The score that follows from the authors' verdict, or the mean score if there are several
    verdicts. If `is_open` is false, the scoring's rules give the score."""
    is_open: bool = True
    """Whether a judge scores the reply; if not, the scoring's rules score it without a judge."""


def qualify_run(
    files: Sequence[Path],
    plan: Plan,
    *,
    benchmark: str | Benchmark,
    data: str | Path | None = None,
    scoring: str | None = None,
    thresholds: Mapping[str, float | None] | None = None,
    tolerance: float | None = None,
    n: int | None = None,
    show: Show | None = None,
    budget: Budget | None = None,
) -> tuple[list[Qualification], list[Finished]]:
    """Use each of the plan's models as a judge of the replies in `files`, and compare its verdicts
    with the published verdicts in these files. Each file has the replies of one model.

    `scoring` is the scoring whose judge prompt is used; the default is the headline scoring. If the
    files have no verdicts for this scoring, the judge is compared with the verdicts for the
    headline scoring. The published scores are then rescaled, so that the best score of the headline
    scoring becomes the best score of `scoring`. `thresholds` overrides defaults in `THRESHOLDS`.
    `tolerance` is a fraction of the best score; the default is 0.1. If `n` is set, only `n`
    questions are used, drawn at random with the plan's `sample_seed`.

    The judges' runs are stored in `.qualified/` in the plan's folder `out`. Each run folder gets a
    `qualification.json`, which `judge`, `score`, and `compare` read. A second call requests only
    missing verdicts.

    Raises:
        UsageError: the files have no published verdicts, the scoring has no judge, or none of a
            judge's verdicts can be read.
        DataError: a file cannot be read, or belongs to another benchmark.
    """
    out, seed = plan.out, plan.options["sample_seed"]
    plan = plan.replaced(data=None, out=Path("runs"), sample_seed=0)
    check_judging(plan.options)
    limits = {**THRESHOLDS, **(thresholds or {})}
    sets = _read(files, benchmark, data)
    benchmark = sets[0].benchmark
    name = scoring or benchmark.headline
    rules = judge.scoring_of(benchmark, name)
    published_as = _published_as(sets, benchmark, name)
    every = [*_published(sets, benchmark, name, published_as)]
    replies = _drawn(every, n, seed)
    if not any(reply.is_open for reply in replies):
        raise UsageError(
            f"{', '.join(map(str, files))}: no reply that the rules leave to a judge has both a "
            f"published verdict that {published_as} can read and a public right answer in "
            f"{benchmark.data.where}. A judge can only be measured on such replies."
        )
    asking = judge.graded(
        benchmark,
        name,
        lambda: ((reply.row_index, reply.sample, reply.reply) for reply in replies),
        of=", ".join(map(str, files)),
        digest=_digest(every),
    )
    judge_plan = plan.replaced(benchmarks=[asking], out=out / QUALIFIED, reuse=[], score=False)
    finished = run_plan(judge_plan, show, budget=budget or budget_of(plan))
    subject = _Subject(
        benchmark=benchmark,
        scoring=name,
        published_as=published_as,
        sources=[path.name for path in files],
        replies=replies,
        repeats=plan.options["repeats"],
    )
    share = TOLERANCE if tolerance is None else tolerance
    qualifications = [
        _measured(Run(done.run), subject, share * rules.best, limits)
        for done in finished
        if not done.interrupted
    ]
    return qualifications, finished


@dataclass(frozen=True, kw_only=True)
class _Subject:
    """The published replies, and the published verdicts that judges are compared with."""

    benchmark: Benchmark
    """The benchmark."""
    scoring: str
    """The scoring whose judge prompt is used."""
    published_as: str
    """The scoring that the published verdicts belong to."""
    sources: list[str]
    """The names of the files."""
    replies: Sequence[PublishedReply]
    """The replies."""
    repeats: int
    """How many verdicts of the judge are used for each reply."""


def _measured(
    judging: Run, subject: _Subject, tolerance: float, limits: Mapping[str, float | None]
) -> Qualification:
    """Measure the judge of a finished run, and store the result with the run.

    Raises:
        UsageError: none of the judge's verdicts can be read.
    """
    benchmark, name = subject.benchmark, subject.scoring
    pairs = _pairs(judging, benchmark, name, subject.replies, subject.repeats)
    identity = judging.manifest()["identity"]
    if all(pair.judge is None for pair in pairs):
        raise UsageError(
            f"{judging.path}: none of the {len(pairs):,} verdicts of {identity['model']} can be "
            "read, so nothing can be compared. Check its replies."
        )
    rules = judge.scoring_of(benchmark, name)
    settled = [
        VerdictPair(reply.model, _cluster(benchmark, reply), reply.score, reply.score)
        for reply in subject.replies
        if not reply.is_open
    ]
    agreement = measure(pairs, settled, best=rules.best, tolerance=tolerance, thresholds=limits)
    qualification = Qualification(
        format=FORMAT,
        key=qualification_key(identity, benchmark, name),
        benchmark=benchmark.name,
        scoring=name,
        version=rules.version,
        judge=identity["model"],
        revision=identity["model_revision"],
        authors=judge.judge_of(benchmark, subject.published_as).authors_model,
        published_as=subject.published_as,
        measured=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        sources=subject.sources,
        agreement=agreement,
        qualified=all(criterion.met for criterion in agreement.criteria),
        run=str(judging.path),
        repeats=subject.repeats,
    )
    raw = msgspec.json.format(msgspec.json.encode(qualification), indent=2)
    judging.folder.put_atomic(QUALIFICATION, raw + b"\n")
    return qualification


def _read(
    files: Sequence[Path], benchmark: str | Benchmark, data: str | Path | None
) -> list[PredictionSet]:
    """Read the predictions in the files, all with the same benchmark object.

    Raises:
        UsageError: a file has no replies, or two files have the same name.
    """
    if isinstance(benchmark, str):
        where = None if data is None else data_at(data)
        benchmark = registry.benchmark(benchmark, data=where)
    sets = [read_predictions(path, benchmark, None, None, None, None) for path in files]
    models = [known.model for known in sets]
    for known in sets:
        if not any(known.replies.values()):
            raise UsageError(
                f"{known.path} has verdicts, but not the replies they belong to. Add the "
                f"replies to the file, in the format of {benchmark.name}'s authors."
            )
    if twice := {model for model in models if models.count(model) > 1}:
        raise UsageError(
            f"two files are named {', '.join(sorted(twice))}. Each file has the replies of one "
            "model and is named after this model, so give each file a different name."
        )
    return sets


def _published_as(sets: Sequence[PredictionSet], benchmark: Benchmark, name: str) -> str:
    """The scoring that the files have verdicts for: `name` if possible, otherwise the headline.

    Raises:
        UsageError: neither scoring has verdicts in all files.
    """
    for candidate in dict.fromkeys((name, benchmark.headline)):
        if all(candidate in known.verdicts for known in sets):
            return candidate
    without = [str(known.path) for known in sets if name not in known.verdicts]
    raise UsageError(
        f"{', '.join(without)}: no published verdicts of a judge. --qualify requires files in "
        f"which {benchmark.name}'s authors publish verdicts along with the replies. To compare a "
        "judge with people's labels, use `snellen judge RUN --against FILE`."
    )


def _published(
    sets: Sequence[PredictionSet], benchmark: Benchmark, name: str, published_as: str
) -> Iterator[PublishedReply]:
    """Yield the replies whose published verdicts can be read, and the replies that rules can score
    without a judge. Scores are in the unit of the scoring `name`."""
    rules, theirs = judge.scoring_of(benchmark, name), judge.scoring_of(benchmark, published_as)
    for known in sets:
        for scored in known.scorable().scored():
            if scored.reply is None or scored.sample.hidden:
                continue
            reading = rules.parse(scored.reply, scored.sample)
            if not judge.judge_of(benchmark, name).when(reading):
                by_rules = total_score(rules.score(reading, scored.sample))
                if by_rules is not None:
                    yield PublishedReply(
                        *(known.model, scored.row_index, scored.sample, scored.reply, by_rules),
                        is_open=False,
                    )
                continue
            words = known.verdicts[published_as](scored.sample, scored.reply)
            scores = [judge.worth(theirs, text, scored.sample) for text in words]
            readable = [score for score in scores if score is not None]
            if readable:
                score = fmean(readable) / theirs.best * rules.best
                yield PublishedReply(
                    known.model, scored.row_index, scored.sample, scored.reply, score
                )


def _drawn(replies: list[PublishedReply], n: int | None, seed: int) -> list[PublishedReply]:
    """Draw `n` of the questions at random, and select all models' replies to these questions. With
    the same seed, a larger sample contains every smaller one."""

    def order(name: str) -> bytes:
        return blake2b(f"{seed} {name}".encode(errors="surrogatepass"), digest_size=8).digest()

    if n is None:
        return replies
    chosen = {*sorted({reply.sample.id for reply in replies}, key=order)[:n]}
    return [reply for reply in replies if reply.sample.id in chosen]


def _digest(replies: Sequence[PublishedReply]) -> str:
    digest = blake2b(digest_size=16)
    for name in sorted({judge.judged_id(reply.sample, reply.reply) for reply in replies}):
        digest.update(f"{name}\n".encode(errors="surrogatepass"))
    return digest.hexdigest()


def _pairs(
    judging: Run, benchmark: Benchmark, name: str, replies: Sequence[PublishedReply], repeats: int
) -> list[VerdictPair]:
    """Pair the published score with the judge's score for each reply that needs a judge. The
    judge's score is the mean over the first `repeats` repeats."""
    rules, reader = judge.scoring_of(benchmark, name), judge.judge_of(benchmark, name)
    pairs = []
    with closing(judging):
        judging.load()
        for reply in replies:
            if not reply.is_open:
                continue
            judged_id = judge.judged_id(reply.sample, reply.reply)
            words = [
                judge.words_of(judging, judged_id, reader, repeat) for repeat in range(repeats)
            ]
            scores = [judge.worth(rules, text, reply.sample) for text in words]
            readable = [score for score in scores if score is not None]
            pairs.append(
                VerdictPair(
                    model=reply.model,
                    cluster=_cluster(benchmark, reply),
                    published=reply.score,
                    judge=fmean(readable) if readable else None,
                )
            )
    return pairs


def _cluster(benchmark: Benchmark, reply: PublishedReply) -> str:
    of = benchmark.cluster_by
    return reply.sample.id if of is None else of(reply.sample)
