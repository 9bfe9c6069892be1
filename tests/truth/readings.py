"""What `robust` and the official rules read in the labelled replies, and how often that is right.

`PYTHONPATH=src:. python -m tests.truth.readings` fills the tables of docs/readings.md.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from string import ascii_uppercase

from snellen import registry
from snellen.answers.choice import Letter, option_letter
from snellen.answers.others import lmms_eval_letter, textbook_letter, vlmevalkit_letter
from snellen.answers.value import cleaned, final_value, same_value
from snellen.answers.yes_no import yes_or_no
from snellen.benchmarks.families import own_rows
from snellen.benchmarks.families.draws import drawn_by_id
from snellen.benchmarks.mmmu_pro import kit_answer_behind
from snellen.benchmarks.scienceqa import llava_answer
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, Scoring, total_score
from tests.golden_data import golden
from tests.truth.labelled import Labelled, labelled, packs

PAGE = Path(__file__).parents[2] / "docs/readings.md"


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
    for reply in labelled(pack):
        answer: str | None
        if reply.kind == "letter":
            answer, rule, _ = option_letter(reply.text, reply.sample.choices)
            right = answer == reply.answer
        elif reply.kind == "yes/no":
            answer, rule, _ = yes_or_no(reply.text, reply.sample.question)
            right = answer == reply.answer
        else:
            answer, rule, _ = final_value(reply.text)
            right = bool(answer and reply.answer and same_value(answer, cleaned(reply.answer)))
        yield read(reply, "robust", rule, answer is not None, right)


def official(pack: str) -> Iterator[Read]:
    """The official rules, where there are any that need no judge, on a pack's labelled replies."""
    for reply in labelled(pack):
        scoring, sample = scoring_and_sample(reply)
        if scoring is None:
            continue
        reading = drawn_by_id(scoring.parse(Reply(text=reply.text), sample), sample)
        if reply.kind == "letter":
            offered = ascii_uppercase[: len(reply.sample.choices)]
            credited = [letter for letter in offered if credits(scoring, reading, sample, letter)]
            answered, right = bool(credited), credited == [reply.answer]
        elif reply.kind == "yes/no":
            answered, right = reading.answer in ("yes", "no"), reading.answer == reply.answer
        else:
            answered = reading.answer is not None
            right = reply.answer is not None and credits(
                scoring, reading, sample, cleaned(reply.answer)
            )
        yield read(reply, "official", reading.rule, answered, right and answered)


Find = Callable[[Labelled], tuple[object, str]]
"""A letter or none, and the rule that fired."""


def of_letter(find: Callable[[str, Sequence[str]], Letter]) -> Find:
    def letter_of(reply: Labelled) -> tuple[object, str]:
        answer, rule, _ = find(reply.text, reply.sample.choices)
        return answer, rule

    return letter_of


def last_line_first(reply: Labelled) -> tuple[object, str]:
    """VLMEvalKit's letter, of MMMU-Pro's replies step by step as it takes it there."""
    if not reply.source.endswith("_cot"):
        return of_letter(vlmevalkit_letter)(reply)
    reading = kit_answer_behind(Reply(text=reply.text), reply.sample)
    return reading.answer, reading.rule


LETTERS: Mapping[str, Find] = {
    "robust": of_letter(option_letter),
    "VLMEvalKit": of_letter(vlmevalkit_letter),
    "VLMEvalKit, special rule for MMMU-Pro": last_line_first,
    "lmms-eval": of_letter(lmms_eval_letter),
    "textbook": of_letter(textbook_letter),
}


def letters(name: str) -> Iterator[Read]:
    """One way to find a letter, on every reply that is labelled with a letter or with none."""
    for reply in (reply for pack in packs() for reply in labelled(pack) if reply.kind == "letter"):
        answer, rule = LETTERS[name](reply)
        # VLMEvalKit's Z says that none of the choices is meant.
        yield read(reply, name, rule, answer not in (None, "Z"), answer == reply.answer)


def read(reply: Labelled, reading: str, rule: str, answered: bool, right: bool) -> Read:
    return Read(
        reading=reading,
        source=reply.source,
        pack=reply.pack,
        kind=reply.kind,
        name=reply.sample.id,
        rule=rule,
        answered=answered,
        right=answered and right,
        wanted=reply.answer is not None,
    )


def credits(scoring: Scoring, reading: Reading, sample: Sample, target: str) -> bool:
    """Whether the official rule would count the reply as right if this were the target."""
    other = replace(sample, target=target, references=())
    score = total_score(scoring.score(reading, other))
    return score is not None and score > 0


FREE = {"robust": "robust, the headline", "default": "default, the whole reply"}
"""The scorings of free answers of own rows."""


def free_answers(name: str) -> Iterator[Read]:
    """What a scoring of own rows with free answers reads in the replies that are labelled with a
    value or a count. No reply gives the rows' right answer, so that it helps no rule."""
    scoring = own_rows.stored("rows", {"task": "vqa", "columns": {}}).scorings[name]
    for reply in (reply for pack in packs() for reply in labelled(pack)):
        if reply.kind not in ("short", "count"):
            continue
        sample = replace(reply.sample, choices=(), target="nobody")
        reading = scoring.parse(Reply(text=reply.text), sample)
        right = reply.answer is not None and credits(scoring, reading, sample, reply.answer)
        yield read(reply, name, reading.rule, reading.answer is not None, right)


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


def scoring_and_sample(reply: Labelled) -> tuple[Scoring | None, Sample]:
    if reply.pack == "scienceqa":
        # The pack has no problems.json; the rule of the replies' authors needs only the letters.
        scoring = Scoring(
            version=1,
            source="llava",
            parse=llava_answer,
            score=lambda reading, sample: float(reading.answer == sample.target),
            metrics={},
        )
        return scoring, reply.sample
    if reply.pack not in SPECS:
        return None, reply.sample
    benchmark, samples = loaded(SPECS[reply.pack](reply.source), reply.pack)
    return benchmark.scorings["official"], samples.get(reply.sample.id, reply.sample)


@cache
def loaded(spec: str, pack: str) -> tuple[Benchmark, dict[str, Sample]]:
    benchmark = registry.benchmark(spec, data=golden(pack))
    return benchmark, {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


# -- tables


def parts() -> Mapping[str, str]:
    """The tables of the page by the names of their places in it."""
    ours = [read for pack in packs() for read in robust(pack)]
    theirs = [read for pack in packs() for read in official(pack)]
    return {
        "packs": by_pack(ours, theirs),
        "tools": of_tools(),
        "free": of_free_answers(),
        "robust": by_rule(ours),
        "official": by_rule(theirs),
    }


def filled(page: str, tables: Mapping[str, str]) -> str:
    """The page with each table between <!-- name --> and <!-- /name -->."""
    for name, table in tables.items():
        before, begins, rest = page.partition(f"<!-- {name} -->\n")
        _, ends, after = rest.partition(f"<!-- /{name} -->\n")
        assert begins and ends, f"the page has no place for {name}"
        page = f"{before}{begins}\n{table}\n\n{ends}{after}"
    return page


def by_pack(ours: Sequence[Read], theirs: Sequence[Read]) -> str:
    lines = [
        "| pack | answers | n | with an answer | official precision | official recall "
        "| robust precision | robust recall |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    kinds = sorted({(read.pack, read.kind) for read in ours})
    for pack, kind in kinds:
        mine, authors = (
            tally(read for read in reads if (read.pack, read.kind) == (pack, kind))
            for reads in (ours, theirs)
        )
        lines.append(row_of(pack, kind, mine, share(authors.precision), share(authors.recall)))
    for kind in sorted({kind for _, kind in kinds}):
        lines.append(row_of("all", kind, tally(read for read in ours if read.kind == kind), "", ""))
    lines.append(row_of("all", "all", tally(ours), "", ""))
    return "\n".join(lines)


def row_of(pack: str, kind: str, mine: Tally, *official: str) -> str:
    shares = (*official, share(mine.precision), share(mine.recall))
    return f"| {pack} | {kind} | {mine.n} | {mine.wanted} | {' | '.join(shares)} |"


def of_tools() -> str:
    """The table of what each way to find a letter is worth."""
    return table_of_totals("reading", {name: tally(letters(name)) for name in LETTERS})


def of_free_answers() -> str:
    """The table of what the scorings of own rows read in free answers."""
    return table_of_totals("scoring", {FREE[name]: tally(free_answers(name)) for name in FREE})


def table_of_totals(first: str, totals: Mapping[str, Tally]) -> str:
    lines = [
        f"| {first} | n | answered | right | precision | recall |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, total in totals.items():
        lines.append(
            f"| {name} | {total.n} | {total.answered} | {total.right} "
            f"| {share(total.precision)} | {share(total.recall)} |"
        )
    return "\n".join(lines)


def by_rule(reads: Sequence[Read]) -> str:
    """A line for each rule: what it answers, what of that is right, its part of the recall."""
    name = reads[0].reading
    lines = [
        f"| {name}: rule | answers | n | right | precision | part of recall |",
        "|---|---|---:|---:|---:|---:|",
    ]
    keys = sorted(
        {(read.pack, read.kind, read.rule) if name == "official" else ("", read.kind, read.rule)
         for read in reads}
    )  # fmt: skip
    for pack, kind, rule in keys:
        same = [read for read in reads if read.kind == kind and pack in ("", read.pack)]
        fired = [read for read in same if read.rule == rule]
        total = tally(fired)
        part = total.right / tally(same).wanted
        where = f"{pack}: {rule}" if pack else rule
        right = str(total.right) if total.answered else ""
        lines.append(
            f"| {where} | {kind} | {total.n} | {right} | {share(total.precision)} "
            f"| {share(part) if total.answered else ''} |"
        )
    return "\n".join(lines)


def share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(), parts()))
