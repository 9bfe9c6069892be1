"""Finds the stored qualification of a judge, and determines whether the judge is qualified."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from snellen import registry
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.scoring import Judge
from snellen.errors import SnellenError, StoreError, plain
from snellen.scoring import JudgedBy, Qualification, is_authors_judge, judge
from snellen.store import FORMAT, MANIFEST, Run, identity_digest, safe_name

QUALIFIED = ".qualified"
"""The subfolder, in a folder of runs, that contains judges' runs on published replies. The name
begins with a dot so that the subfolder is not mistaken for the folder of a benchmark."""
QUALIFICATION = "qualification.json"
"""The name of the file that contains a qualification, in the folder of the judge's run."""
LEVELS = 6
"""The number of folders above a run that are searched for qualifications."""


def qualification_key(identity: Mapping[str, Any], benchmark: Benchmark, scoring: str) -> str:
    """The digest of everything that a judge's verdicts depend on, except the replies. `identity`
    comes from the manifest of the judge's run."""
    rules, form = judge.scoring_of(benchmark, scoring), judge.judge_of(benchmark, scoring)
    generation = identity["generation"]
    return identity_digest(
        {
            "model": identity["model"],
            "revision": identity["model_revision"],
            "profile": identity["profile"],
            "generation": {
                name: generation[name] for name in ("max_tokens", "temperature", "top_p")
            },
            "benchmark": benchmark.name,
            "scoring": scoring,
            "version": rules.version,
            "judge": {"name": form.name, "asks": form.asks},
            "prompt": _prompt_digest(benchmark, form),
        }
    )


def _prompt_digest(benchmark: Benchmark, form: Judge) -> str:
    """The digest of the judge's prompt.

    The digest covers the messages that the judge would get about the benchmark's bundled rows, so
    options of the benchmark that change the prompt change the digest. If a benchmark has no bundled
    rows, for example because it is the user's own, the digest covers the benchmark's options
    instead.
    """
    options = {name: str(value) for name, value in benchmark.provenance.options.items()}
    digest = blake2b(digest_size=16)
    try:
        if not benchmark.provenance.from_catalog:
            raise LookupError
        bundled = registry.benchmark(
            benchmark.name,
            data=Path(registry.SYNTHETIC),
            options={k: v for k, v in benchmark.provenance.options.items() if k != "data"},
        )
        for row in bundled.data:
            sample = bundled.read(row)
            reply = Reply(text="A reply.")
            messages = form.prompt(sample, reply)
            messages += form.then(sample, reply, reply.text) if form.then is not None else ()
            digest.update(repr([(message.role, message.text) for message in messages]).encode())
    except (LookupError, SnellenError):
        digest.update(repr(sorted(options.items())).encode())
    return digest.hexdigest()


def read_qualification(path: Path) -> Qualification:
    """Read a stored qualification.

    Raises:
        StoreError: the file cannot be read.
    """
    try:
        qualification = msgspec.json.decode(path.read_bytes(), type=Qualification)
    except (OSError, msgspec.DecodeError) as error:
        raise StoreError(
            f"{path} is not a qualification: {plain(str(error))}. Measure the judge again with "
            "`snellen judge --qualify`."
        ) from error
    if qualification.format > FORMAT:
        raise StoreError(
            f"{path} has format {qualification.format}, but this version of Snellen reads only "
            f"formats up to {FORMAT}. Install a newer version, or measure the judge again."
        )
    return qualification


def _stored(run: Path, benchmark: str, scoring: str) -> Iterator[Qualification]:
    """Yield the qualifications for a scoring in the folders above a run, nearest folder first."""
    name = safe_name(f"{benchmark}.{scoring}")
    for folder in run.resolve().parents[:LEVELS]:
        for manifest in sorted((folder / QUALIFIED / name).glob(f"*/*/{MANIFEST}")):
            path = manifest.with_name(QUALIFICATION)
            if path.exists():
                yield read_qualification(path)


def judged_by(
    run: Run, benchmark: Benchmark, juries: Mapping[str, Sequence[Run]]
) -> dict[str, JudgedBy]:
    """List the judges of each scoring that has verdicts, and state whether these judges are
    qualified. `juries` maps each scoring to the runs of the judges whose verdicts are used.

    Raises:
        StoreError: a stored qualification cannot be read.
    """
    return {
        name: _judged_by(run, benchmark, name, judges) for name, judges in juries.items() if judges
    }


def _judged_by(run: Run, benchmark: Benchmark, name: str, judges: Sequence[Run]) -> JudgedBy:
    authors = judge.judge_of(benchmark, name).authors_model
    manifests = [judging.manifest() for judging in judges]
    models = list(dict.fromkeys(manifest["model"] for manifest in manifests))
    others = [
        manifest
        for manifest in manifests
        if authors is None or not is_authors_judge(manifest["model"], authors)
    ]
    stored = list(_stored(run.path, benchmark.name, name)) if others else []
    if not others or (authors is None and not stored):
        return JudgedBy(judges=models, authors=authors)
    latest = {manifest["model"]: _latest(stored, manifest, benchmark, name) for manifest in others}
    reasons = {
        model: _why_none(stored, model) if of_judge is None else of_judge.agreement.summary
        for model, of_judge in latest.items()
    }
    return JudgedBy(
        judges=models,
        authors=authors,
        qualified=all(of_judge is not None and of_judge.qualified for of_judge in latest.values()),
        reason="; ".join(
            f"{model}: {reason}" if len(reasons) > 1 else reason
            for model, reason in reasons.items()
        ),
        qualifications=[
            f"{of_judge.key}, {of_judge.measured}"
            for of_judge in latest.values()
            if of_judge is not None
        ],
    )


def _latest(
    stored: Sequence[Qualification], manifest: Mapping[str, Any], benchmark: Benchmark, name: str
) -> Qualification | None:
    """The latest qualification of the judge whose run has this manifest; None if there is none. A
    qualification by the mean of several verdicts does not hold for fewer verdicts."""
    if not stored:
        return None
    key, repeats = qualification_key(manifest["identity"], benchmark, name), _repeats(manifest)
    same = [
        qualification
        for qualification in stored
        if qualification.key == key and qualification.repeats <= repeats
    ]
    return max(same, key=lambda qualification: qualification.measured, default=None)


def _repeats(manifest: Mapping[str, Any]) -> int:
    """How often the judge was asked about each reply."""
    repeats: int = manifest.get("repeats", 1)
    return repeats


def _why_none(stored: Sequence[Qualification], model: str) -> str:
    if any(qualification.judge == model for qualification in stored):
        return (
            "it was measured with another revision, other settings, or another prompt, or by more "
            "verdicts on each reply; measure it again with `snellen judge --qualify`"
        )
    return "it was not measured against published verdicts; `snellen judge --qualify` does that"
