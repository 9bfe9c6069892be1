"""What `robust` and the official rules read in the labelled replies, and how often that is right.

`python -m tests.truth.readings` prints the tables.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from string import ascii_uppercase

from snellen import catalog
from snellen.answers.choice import Letter, option_letter
from snellen.answers.others import lmms_eval_letter, textbook_letter, vlmevalkit_letter
from snellen.answers.value import cleaned, final_value, same_value
from snellen.answers.yes_no import yes_or_no
from snellen.benchmark import Benchmark, Reading, Scoring
from snellen.benchmarks.scienceqa import llava_answer
from snellen.model import Reply
from snellen.sample import Sample
from tests.golden_data import golden
from tests.truth.labelled import Labelled, labelled, packs


@dataclass(frozen=True, kw_only=True)
class Read:
    """What a rule made of one labelled reply: an answer or none, which is right or not."""

    reading: str
    source: str
    pack: str
    kind: str
    name: str
    rule: str
    answered: bool
    right: bool
    wanted: bool


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Replies, those that a rule answers, those of them that it answers as they are labelled, and
    those that are labelled with an answer."""

    n: int
    answered: int
    right: int
    wanted: int

    @property
    def precision(self) -> float | None:
        return self.right / self.answered if self.answered else None

    @property
    def recall(self) -> float | None:
        return self.right / self.wanted if self.wanted else None


def tally(reads: Iterable[Read]) -> Tally:
    every = list(reads)
    return Tally(
        n=len(every),
        answered=sum(read.answered for read in every),
        right=sum(read.right for read in every),
        wanted=sum(read.wanted for read in every),
    )


def robust(pack: str) -> Iterator[Read]:
    """Our parser of each kind of answer, on the labelled replies of a pack."""
    for one in labelled(pack):
        answer: str | None
        if one.kind == "letter":
            answer, rule, _ = option_letter(one.text, one.sample.choices)
            right = answer == one.answer
        elif one.kind == "yes/no":
            answer, rule, _ = yes_or_no(one.text, one.sample.question)
            right = answer == one.answer
        else:
            answer, rule, _ = final_value(one.text)
            right = bool(answer and one.answer and same_value(answer, cleaned(one.answer)))
        yield read(one, "robust", rule, answer is not None, right)


def official(pack: str) -> Iterator[Read]:
    """The official rules, where there are any that need no judge, on a pack's labelled replies."""
    for one in labelled(pack):
        scoring, sample = asked(one)
        if scoring is None:
            continue
        reading = scoring.parse(Reply(text=one.text), sample)
        if one.kind == "letter":
            offered = ascii_uppercase[: len(one.sample.choices)]
            credited = [letter for letter in offered if credits(scoring, reading, sample, letter)]
            answered, right = bool(credited), credited == [one.answer]
        elif one.kind == "yes/no":
            answered, right = reading.answer in ("yes", "no"), reading.answer == one.answer
        else:
            answered = reading.answer is not None
            right = one.answer is not None and credits(
                scoring, reading, sample, cleaned(one.answer)
            )
        yield read(one, "official", reading.rule, answered, right and answered)


LETTERS: Mapping[str, Callable[[str, Sequence[str]], Letter]] = {
    "robust": option_letter,
    "VLMEvalKit": vlmevalkit_letter,
    "lmms-eval": lmms_eval_letter,
    "textbook": textbook_letter,
}


def letters(name: str) -> Iterator[Read]:
    """One way to find a letter, on every reply that is labelled with a letter or with none."""
    for one in (one for pack in packs() for one in labelled(pack) if one.kind == "letter"):
        answer, rule, _ = LETTERS[name](one.text, one.sample.choices)
        # VLMEvalKit's Z says that none of the choices is meant.
        yield read(one, name, rule, answer not in (None, "Z"), answer == one.answer)


def read(one: Labelled, reading: str, rule: str, answered: bool, right: bool) -> Read:
    return Read(
        reading=reading,
        source=one.source,
        pack=one.pack,
        kind=one.kind,
        name=one.sample.id,
        rule=rule,
        answered=answered,
        right=answered and right,
        wanted=one.answer is not None,
    )


def credits(scoring: Scoring, reading: Reading, sample: Sample, target: str) -> bool:
    """Whether the official rule would count the reply as right if this were the target."""
    score = scoring.score(reading, replace(sample, target=target, references=()))
    return score is not None and score > 0


SPECS: dict[str, Callable[[str], str]] = {
    "mathvision": lambda source: "mathvision",
    "mmmu": lambda source: "mmmu",
    "mmmu_pro": lambda source: (
        "mmmu-pro:setting=vision" if "vision" in source else "mmmu-pro:setting=standard-10,mode=cot"
    ),
    "pope": lambda source: "pope:release=e3e3926",
    "mme": lambda source: "mme",
}
"""The benchmark that the replies of a pack's files answer, where our code has the official rule.

MathVista's and HallusionBench's official answers are a judge's.
"""


def asked(one: Labelled) -> tuple[Scoring | None, Sample]:
    if one.pack == "scienceqa":
        # The pack has no problems.json; the rule of the replies' authors needs only the letters.
        found = Scoring(
            version=1,
            source="llava",
            parse=llava_answer,
            score=lambda reading, sample: float(reading.answer == sample.target),
            metrics={},
        )
        return found, one.sample
    if one.pack not in SPECS:
        return None, one.sample
    benchmark, samples = loaded(SPECS[one.pack](one.source), one.pack)
    return benchmark.scorings["official"], samples.get(one.sample.id, one.sample)


@cache
def loaded(spec: str, pack: str) -> tuple[Benchmark, dict[str, Sample]]:
    benchmark = catalog.benchmark(spec, data=golden(pack))
    return benchmark, {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


# -- tables


def tables() -> str:
    """The tables of docs/readings.md: by pack and kind, and by rule."""
    ours = [one for pack in packs() for one in robust(pack)]
    theirs = [one for pack in packs() for one in official(pack)]
    kinds = sorted({(one.pack, one.kind) for one in ours})
    lines = [
        "| pack | answers | n | with an answer | official precision | official recall "
        "| robust precision | robust recall |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for pack, kind in [*kinds, ("all", "all")]:
        of_ours = [one for one in ours if pack == "all" or (one.pack, one.kind) == (pack, kind)]
        of_theirs = [one for one in theirs if pack == "all" or (one.pack, one.kind) == (pack, kind)]
        mine, authors = tally(of_ours), tally(of_theirs)
        cells = (
            [share(authors.precision), share(authors.recall)] if pack != "all" else ["", ""],
            [share(mine.precision), share(mine.recall)],
        )
        row = [pack, kind, str(mine.n), str(mine.wanted), *cells[0], *cells[1]]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join([*lines, "", of_tools(), "", *by_rule(ours), "", *by_rule(theirs)]) + "\n"


def of_tools() -> str:
    """The table of what each way to find a letter is worth."""
    lines = [
        "| reading | n | answered | right | precision | recall |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name in LETTERS:
        found = tally(letters(name))
        lines.append(
            f"| {name} | {found.n} | {found.answered} | {found.right} "
            f"| {share(found.precision)} | {share(found.recall)} |"
        )
    return "\n".join(lines)


def by_rule(reads: Sequence[Read]) -> list[str]:
    """A line for each rule: what it answers, what of that is right, its part of the recall."""
    name = reads[0].reading
    lines = [
        f"| {name}: rule | answers | n | right | precision | part of recall |",
        "|---|---|---:|---:|---:|---:|",
    ]
    keys = sorted(
        {(one.pack, one.kind, one.rule) if name == "official" else ("", one.kind, one.rule)
         for one in reads}
    )  # fmt: skip
    for pack, kind, rule in keys:
        same = [one for one in reads if one.kind == kind and pack in ("", one.pack)]
        fired = [one for one in same if one.rule == rule]
        found = tally(fired)
        part = found.right / tally(same).wanted
        where = f"{pack}: {rule}" if pack else rule
        right = str(found.right) if found.answered else ""
        lines.append(
            f"| {where} | {kind} | {found.n} | {right} | {share(found.precision)} "
            f"| {share(part) if found.answered else ''} |"
        )
    return lines


def share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    print(tables(), end="")
