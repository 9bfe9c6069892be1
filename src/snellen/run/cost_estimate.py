"""Estimates the requests, pictures, tokens, cost, and hours of a plan.

Nothing is sent, no model is opened, and no run folder is created or changed.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import NamedTuple

import msgspec

from snellen import registry
from snellen.core.benchmark import Benchmark
from snellen.core.model import Usage
from snellen.core.profile import Profile
from snellen.data import Facts, rows_at
from snellen.errors import CatalogError, MediaError
from snellen.media import images, video
from snellen.media.content import Image, Part
from snellen.media.sizes import at_least, within
from snellen.models.image_tokens import image_tokens
from snellen.models.recorded import Recorded
from snellen.run import Settings, chosen, select
from snellen.run.identity import run_identity
from snellen.run.plan import Plan
from snellen.run.run_config import RunConfig
from snellen.scoring import CostReport, cost_of
from snellen.store import MANIFEST, Run, differences, identity_digest, pull, safe_name

LOOKED_AT, WITH_VIDEOS = 400, 40
"""The maximum number of rows whose prompts and media are measured, for benchmarks without and with
videos. If there are more rows, evenly spaced rows are measured."""
CHARACTERS = 4
"""The number of characters per token (help.openai.com/en/articles/4936856). In scripts without
spaces, which begin at U+2E80, each character counts as a token."""
CLOSE_WRITTEN = "\u2e80"

ONCE_OPENED = ("model_revision", "called", "prompt", "adapter")
"""Fields of a run's identity that may not be known until the model is opened."""
OF_TOOLS = (
    "tools",
    *(f"tool_use.{name}" for name in ("form", "max_steps", "max_tokens", "pictures", "digest")),
)
"""Further such fields of a run with tools."""


class CostEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """The estimate for one benchmark and one model. Unknown values are None, and a note explains
    why."""

    benchmark: str
    """The benchmark."""
    model: str
    """The model."""
    questions: int
    """The number of all questions: samples × repeats."""
    left: int
    """The number of questions without a reply. All further figures are for such questions only."""
    requests: int
    """The number of requests."""
    pictures: int
    """The number of pictures."""
    frames: int
    """The number of video frames."""
    input_tokens: int | None
    """The number of tokens in the requests."""
    output_tokens: int | None
    """The number of tokens in the replies."""
    at_most: bool
    """Whether `output_tokens` and `cost` are upper bounds."""
    cost: float | None
    """The cost, in `currency`."""
    currency: str | None
    """The currency of the prices."""
    hours: float | None
    """The time in hours."""
    notes: list[str]
    """Notes that state how the figures were estimated, and which figures are unknown."""


def estimate(plan: Plan) -> list[CostEstimate]:
    """Estimate the work and the cost for each model and benchmark of a plan.

    Raises:
        SnellenError: a name or an option is invalid, or the rows cannot be read.
    """
    estimates = []
    for setting in plan.by_setting():
        read = [(benchmark, benchmark.data.facts()) for benchmark in setting.benchmarks]
        for spec, (benchmark, facts) in product(setting.models, read):
            estimates.append(_estimate(setting, setting.config(spec, benchmark), facts))
    return estimates


def _estimate(plan: Plan, config: RunConfig, facts: Facts) -> CostEstimate:
    benchmark, profile, settings = config.benchmark, config.profile, config.settings
    spec = config.model
    opened = _unopened(spec, profile) if isinstance(spec, str) else spec
    adapter = config.options["adapter"] if benchmark.procedure.kind == "session" else None
    identity = run_identity(benchmark, facts, opened, profile, settings, adapter)
    folder = plan.out / safe_name(benchmark.name) / safe_name(opened.name)
    pull(folder)
    notes: list[str] = []
    total, left = _left(config, facts, folder / identity_digest(identity))
    n = left.total()
    if n < total:
        there = folder / identity_digest(identity)
        notes.append(f"{total - n:,} questions have a reply in {there} and are not asked again")
    unknown: tuple[str, ...] = ONCE_OPENED
    if config.options["tools"]:
        unknown += OF_TOOLS
        notes.append(
            "with tools, a question may take several requests; the figures are for the first one"
        )
    for path, run in _runs(folder):
        differ = differences(identity, run.manifest()["identity"])
        if differ and all(difference.partition(" ")[0] in unknown for difference in differ):
            notes.append(
                f"if {path} turns out to be this run, its questions are not asked again: it "
                f"differs in {', '.join(differ)}, which is known only once the model is opened"
            )
    earlier = _earlier(folder) if n else None
    sizes = _PromptSizes(benchmark, left, settings, profile, notes)
    work = _work(config, n, sizes.tokens, earlier, notes)
    if any(scoring.judge is not None for scoring in benchmark.scorings.values()):
        notes.append("the cost of judges is not included")
    if plan.reuse:
        notes.append("replies that --reuse would provide are counted as new requests")
    if profile.prices is None:
        notes.append("the cost is not known: the profile has no prices")
    hours = _hours(work.requests, None if earlier is None else earlier[1], profile.concurrency)
    if hours is None:
        notes.append(
            "the time is not known: no earlier run has a reply of this model to this benchmark"
        )
    return CostEstimate(
        benchmark=benchmark.name,
        model=opened.name,
        questions=total,
        left=n,
        requests=work.requests,
        pictures=sizes.pictures,
        frames=sizes.frames,
        input_tokens=work.usage.input,
        output_tokens=work.usage.output,
        at_most=work.at_most,
        cost=None if profile.prices is None else profile.prices.cost(work.usage),
        currency=None if profile.prices is None else profile.prices.currency,
        hours=hours,
        notes=notes,
    )


class _Work(NamedTuple):
    """The requests and tokens that questions need."""

    requests: int
    usage: Usage
    at_most: bool
    """Whether the output tokens are an upper bound."""


def _work(
    config: RunConfig,
    n: int,
    prompt_tokens: int | None,
    earlier: tuple[Path, CostReport] | None,
    notes: list[str],
) -> _Work:
    """Estimate the work for `n` questions from the replies of an earlier run, or else from their
    prompts and the token limit. Appends to `notes`."""
    procedure, most = config.benchmark.procedure, config.settings.generation.max_tokens
    requests, counted = n, 0
    output = 0 if procedure.kind == "rank" else None if most is None else n * most
    usage = Usage(input=prompt_tokens, output=output)
    at_most = bool(usage.output)
    if earlier is not None:
        path, took = earlier
        requests = round(n * took.replies / took.questions)
        if counted := took.replies - took.unsaid:
            ratio = requests / counted
            usage = Usage(**{name: round(total * ratio) for name, total in took.tokens.items()})
            at_most = False
            notes.append(f"tokens estimated from {counted:,} replies in {path}")
    if procedure.kind == "session" and not counted:
        usage, at_most = Usage(), False
        notes.append(
            "the numbers of frames, questions, and messages of an online stream are not known "
            "beforehand"
        )
    elif procedure.conversation.turns != 1 and not counted:
        at_most = False
        turns = "first turns" if earlier is None else "tokens of first turns"
        notes.append(f"{turns} only, since the number of later turns is not known beforehand")
    if at_most:
        notes.append(f"output tokens counted at the limit of {most:,} per reply")
    return _Work(requests, usage, at_most)


def _unopened(spec: str, profile: Profile) -> registry.Opened:
    """Describe a model by its name without opening it, since opening a model may take minutes or
    need an API key.

    Raises:
        CatalogError: there is no such model.
    """
    kinds = {_kind(name) for name in registry.MODELS}
    if _kind(spec) not in kinds:
        raise CatalogError(
            f"there is no model {spec!r}. Use one of these forms: {', '.join(registry.MODELS)}."
        )
    return registry.Opened(
        model=Recorded(spec, {}),
        name=spec,
        server=spec,
        revision=profile.revision,
        concurrency=None,
    )


def _kind(name: str) -> str:
    return re.split("[/:]", name)[0]


def _left(config: RunConfig, facts: Facts, path: Path) -> tuple[int, Counter[int]]:
    """Count the selected (sample, repeat) pairs. For each row index, also count the repeats without
    a reply."""
    benchmark, options = config.benchmark, config.options
    repeats = options["repeats"]
    selection = select(
        benchmark,
        facts.rows,
        limit=options["limit"],
        sample=options["sample"],
        seed=options["sample_seed"],
    )
    places = [row.position for row in chosen(benchmark, selection)]
    left = Counter(dict.fromkeys(places, repeats))
    if (path / MANIFEST).exists():
        with closing(Run(path)) as run:
            run.load()
            left = Counter({p: max(0, repeats - run.finished_at(p)) for p in places})
    return repeats * len(places), +left


def _runs(folder: Path) -> Iterator[tuple[Path, Run]]:
    for manifest in sorted(folder.glob(f"*/{MANIFEST}")):
        yield manifest.parent, Run(manifest.parent)


def _earlier(folder: Path) -> tuple[Path, CostReport] | None:
    """The run of this benchmark and model that has the most replies, and its cost."""
    runs = [(path, cost_of([run])) for path, run in _runs(folder)]
    answered = [(path, cost) for path, cost in runs if cost is not None and cost.questions]
    return max(answered, key=lambda run: run[1].replies, default=None)


def _hours(requests: int, took: CostReport | None, at_once: int | None) -> float | None:
    """Estimate the time in hours from the mean duration of a request and the concurrency, or else
    from the earlier rate of replies."""
    if took is None:
        return None if requests else 0.0
    if at_once is not None and took.total is not None:
        return requests * took.total.mean / at_once / 3600
    return requests * took.seconds / took.replies / 3600


class _PromptSizes:
    """The tokens, pictures, and video frames in the prompts of the remaining rows. `tokens` is None
    if the number of tokens per picture is not known."""

    def __init__(
        self,
        benchmark: Benchmark,
        left: Counter[int],
        settings: Settings,
        profile: Profile,
        notes: list[str],
    ) -> None:
        self._profile = profile
        self._tokens = self._pictures = self._frames = broken = 0
        places = sorted(left)
        step = math.ceil(len(places) / (WITH_VIDEOS if benchmark.procedure.frames else LOOKED_AT))
        looked_at = places[:: step or 1]
        for row in rows_at(
            benchmark.data, looked_at if benchmark.procedure.kind != "session" else ()
        ):
            request = benchmark.request(benchmark.read(row), generation=settings.generation)
            messages = () if request is None else request.messages
            for part in (part for message in messages for part in message.content):
                try:
                    self._add(part, left[row.position])
                except MediaError:
                    broken += 1
        scale = left.total() / (sum(left[row_index] for row_index in looked_at) or 1)
        self.pictures, self.frames = round(self._pictures * scale), round(self._frames * scale)
        self.tokens: int | None = round(self._tokens * scale)
        if len(looked_at) < len(places):
            notes.append(f"measured on {len(looked_at):,} evenly spaced rows of {len(places):,}")
        if broken:
            notes.append(f"{broken:,} of the pictures and videos cannot be read")
        if profile.image_tokens is None and self._pictures + self._frames:
            self.tokens = None
            notes.append(
                "the input tokens are not known: set image_tokens in the profile to the number of "
                "tokens per picture"
            )

    def _add(self, part: Part, times: int) -> None:
        rule, limits = self._profile.image_tokens, self._profile.images
        if isinstance(part, str):
            self._tokens += times * text_tokens(part)
        elif isinstance(part, Image):
            image = images.load(part)
            self._pictures += times
            if rule is not None and image.width and image.height:
                size = at_least((image.width, image.height), limits.min_pixels)
                size = within(size, limits.max_side, limits.max_pixels)
                self._tokens += times * image_tokens(rule, *size)
        else:
            sizes = video.sizes(part)
            self._frames += times * len(sizes)
            if rule is not None:
                self._tokens += times * sum(image_tokens(rule, *size) for size in sizes)


def text_tokens(text: str) -> int:
    """Estimate the number of tokens in a text.

    >>> text_tokens("What is this?"), text_tokens("这是什么?")
    (4, 5)
    """
    close = sum(character >= CLOSE_WRITTEN for character in text)
    return close + math.ceil((len(text) - close) / CHARACTERS)
