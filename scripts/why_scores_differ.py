"""Fill the tables of docs/why-scores-differ.md.

usage: PYTHONPATH=src:. python scripts/why_scores_differ.py

Scores the same published replies by five rules, and breaks down each gap between two scores by the
rules that fired, so that the parts add up to it exactly. Needs the golden packs (SNELLEN_GOLDEN).
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase

from snellen import registry
from snellen.answers.choice import option_letter
from snellen.answers.others import lmms_eval_letter, textbook_letter, vlmevalkit_letter
from snellen.benchmarks.families.draws import drawn_by_id
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from tests.golden_data import golden
from tests.truth.labelled import replies_of
from tests.truth.readings import filled, of_tools

PAGE = Path(__file__).parents[1] / "docs/why-scores-differ.md"

Rule = Callable[[str, Sample], tuple[str, float]]
"""Returns the name of the rule that fired on a reply, and the reply's score."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One model's published replies to one benchmark, and the rules that score them."""

    benchmark: str
    model: str
    spec: str | None
    """The spec of Snellen's benchmark; None if none is used."""
    replies: Sequence[tuple[str, str, Sample]]
    rules: Mapping[str, Rule]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Replies on which these two rules fired, of which only one counts the reply as right."""

    official: str
    other: str
    only_official: int
    only_other: int
    example: str


@dataclass(frozen=True, kw_only=True)
class Table:
    """A case, how many of its replies each reading counts as right, and the cells of each gap."""

    case: Case
    right: Mapping[str, float]
    cells: Mapping[str, Sequence[Cell]]

    @property
    def n(self) -> int:
        return len(self.case.replies)


def compared(case: Case) -> Table:
    """Compare every reading with the official one, reply by reply."""
    read = {
        name: [rule(text, sample) for _, text, sample in case.replies]
        for name, rule in case.rules.items()
    }
    cells = {}
    for name, actual in read.items():
        only: dict[tuple[str, str], Counter[str]] = {}
        first: dict[tuple[str, str], str] = {}
        for (position, _, _), mine, theirs in zip(
            case.replies, read["official"], actual, strict=True
        ):
            if mine[1] == theirs[1]:
                continue
            key = mine[0], theirs[0]
            only.setdefault(key, Counter())["official" if mine[1] else "other"] += 1
            first.setdefault(key, position)
        cells[name] = [
            Cell(
                official=key[0],
                other=key[1],
                only_official=count["official"],
                only_other=count["other"],
                example=first[key],
            )
            for key, count in sorted(only.items(), key=lambda item: (-item[1].total(), item[0]))
        ]
    right = {name: sum(score for _, score in actual) for name, actual in read.items()}
    return Table(case=case, right=right, cells=cells)


# -- rules


def of_scoring(spec: str, pack: str, name: str) -> Rule:
    scoring = registry.benchmark(spec, data=golden(pack)).scorings[name]

    def rule(text: str, sample: Sample) -> tuple[str, float]:
        reading = drawn_by_id(scoring.parse(Reply(text=text), sample), sample)
        return reading.rule, total_score(scoring.score(reading, sample)) or 0.0

    return rule


OWN = {"VLMEvalKit": "vlmevalkit", "lmms-eval": "lmms-eval"}
"""Our scorings that implement a tool's own rule for a benchmark, if the tool does not use its
general rule for letters there."""


def own(name: str) -> str:
    return f"{name} itself"


def of_tools_themselves(spec: str, pack: str) -> dict[str, Rule]:
    scorings = registry.benchmark(spec, data=golden(pack)).scorings
    return {
        own(name): of_scoring(spec, pack, theirs)
        for name, theirs in OWN.items()
        if theirs in scorings
    }


def of_letter(
    find: Callable[[str, Sequence[str]], tuple[str | None, str, tuple[str, ...]]],
) -> Rule:
    def rule(text: str, sample: Sample) -> tuple[str, float]:
        answer, name, _ = find(text, sample.choices)
        return name, float(answer is not None and answer == sample.target)

    return rule


def contained(text: str, sample: Sample) -> tuple[str, float]:
    """OVO-Bench's rule: the right letter occurs anywhere in the reply, even inside a word.

    JoeLeelyf/OVO-Bench@c34093f9a072d93f9e1c6b923446dfba71f4528e:utils/OVOBenchScore.py#L11-L14
    """
    letters = [letter for letter in ascii_uppercase[: len(sample.choices)] if letter in text]
    name = ("no letter", "one letter")[len(letters)] if len(letters) < 2 else "several letters"
    return name, float((sample.target or "?") in text)


def first_word(text: str, sample: Sample) -> tuple[str, float]:
    """The textbook rule for yes and no: whichever comes first within the first ten characters."""
    head = text[:10].lower()
    places = {word: head.find(word) for word in ("yes", "no") if word in head}
    answer = min(places, key=lambda word: places[word], default=None)
    return ("first word" if answer else "neither"), float(answer == sample.target)


LETTERS: Mapping[str, Rule] = {
    "robust": of_letter(option_letter),
    "VLMEvalKit": of_letter(vlmevalkit_letter),
    "lmms-eval": of_letter(lmms_eval_letter),
    "textbook": of_letter(textbook_letter),
}


# -- cases


def cases() -> Iterator[Case]:
    yield from mmmu_pro()
    yield from mathvision()
    yield from ovobench()
    yield pope()


def mmmu_pro() -> Iterator[Case]:
    for model, spec, file in (
        ("GPT-4o, vision, direct", "mmmu-pro:setting=vision", "gpt-4o_vision_direct"),
        (
            "GPT-4o, 10 options, step by step",
            "mmmu-pro:setting=standard-10,mode=cot",
            "gpt-4o_standard(10 options)_cot",
        ),
    ):
        samples = samples_of(spec, "mmmu_pro")
        replies = replies_of(f"mmmu_pro/{file}", "letter")
        yield Case(
            benchmark="MMMU-Pro",
            model=model,
            spec=spec,
            replies=[(name, text, samples[name]) for name, (text, _) in replies.items()],
            rules={
                "official": of_scoring(spec, "mmmu_pro", "official"),
                **LETTERS,
                **of_tools_themselves(spec, "mmmu_pro"),
            },
        )


def mathvision() -> Iterator[Case]:
    samples = samples_of("mathvision", "mathvision")
    official = of_scoring("mathvision", "mathvision", "official")
    rules = {
        "official": official,
        **LETTERS,
        # The benchmark's own `robust` scoring, which also compares values.
        "robust": of_scoring("mathvision", "mathvision", "robust"),
        **of_tools_themselves("mathvision", "mathvision"),
    }
    for model, file in (
        ("ChatGPT-3.5 with captions", "closed-source/GPT/ChatGPT3.5-CoT (Text+Image Caption)"),
        ("Gemini-Pro", "closed-source/Gemini/Gemini-Pro"),
        ("Qwen-VL-Max", "closed-source/Qwen/Qwen-VL-Max"),
        ("Qwen-VL-Plus", "closed-source/Qwen/Qwen-VL-Plus"),
        ("LLaVA-v1.5-13B", "open-source/LLavA/LLaVA-v1.5-13B"),
        ("ShareGPT4V-7B", "open-source/ShereGPT4V/ShareGPT4V-7B"),
        ("SPHINX-MoE", "open-source/Sphinx/SPHINX-MoE"),
    ):
        replies = replies_of(f"mathvision/{file}", "letter")
        yield Case(
            benchmark="MathVision, with choices",
            model=model,
            spec="mathvision",
            replies=[
                (name, text, samples[name])
                for name, (text, _) in replies.items()
                if samples[name].choices
            ],
            rules=rules,
        )


def ovobench() -> Iterator[Case]:
    pack = golden("ovobench")
    questions = {row["id"]: row for row in json.loads((pack / "annotations.json").read_text())}
    for model, folder in (
        ("Gemini", "Gemini"),
        ("GPT", "GPT"),
        ("InternVL2", "InternVL2"),
        ("LLaVA-Video", "LLaVA_Video"),
        ("Qwen2-VL-72B", "QWen2VL_72B_"),
        ("Qwen2-VL-7B", "QWen2VL_7B_"),
    ):
        replies = []
        for path in sorted((pack / "outputs" / folder).glob("*.json")):
            file = json.loads(path.read_text())
            for row in (*file["backward"], *file["realtime"]):
                sample = Sample(
                    id=str(row["id"]),
                    question=row["question"],
                    choices=tuple(map(str, questions[row["id"]]["options"])),
                    target=row["ground_truth"],
                )
                replies.append((sample.id, row["response"] or "", sample))
        yield Case(
            benchmark="OVO-Bench, letters",
            model=model,
            spec=None,
            replies=replies,
            rules={"official": contained, **LETTERS},
        )


def pope() -> Case:
    spec = "pope:release=e3e3926"
    samples = samples_of(spec, "pope")
    replies = replies_of("pope/llava-v1.5-13b", "yes/no")
    themselves = of_tools_themselves(spec, "pope")
    # The pack has LLaVA's ids, which number the questions of a set consecutively.
    return Case(
        benchmark="POPE",
        model="LLaVA-v1.5-13B",
        spec=spec,
        replies=[(name, text, samples[name]) for name, (text, _) in replies.items()],
        rules={
            "official": of_scoring(spec, "pope", "official"),
            "robust": of_scoring(spec, "pope", "robust"),
            # There are no letters, so the tools' columns show their own rules for POPE.
            **{name: themselves[own(name)] for name in OWN},
            **themselves,
            "textbook": first_word,
        },
    )


def samples_of(spec: str, pack: str) -> dict[str, Sample]:
    benchmark = registry.benchmark(spec, data=golden(pack))
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


# -- the page

READINGS = ("official", "robust", "VLMEvalKit", "lmms-eval", "textbook")
SHOWN = 5
"""The number of cells of a gap that are listed. One line sums up the rest, so that a table adds
up."""


def parts(tables: Sequence[Table]) -> Mapping[str, str]:
    """The tables of the page, keyed by the names of their places in it."""
    of = {(table.case.benchmark, table.case.model): table for table in tables}
    vision = of["MMMU-Pro", "GPT-4o, vision, direct"]
    steps = of["MMMU-Pro", "GPT-4o, 10 options, step by step"]
    captions = of["MathVision, with choices", "ChatGPT-3.5 with captions"]
    qwen = of["MathVision, with choices", "Qwen-VL-Max"]
    gemini = of["OVO-Bench, letters", "Gemini"]
    return {
        "overview": overview(tables),
        "widest": widest_gaps(tables),
        "own": tools_themselves(tables),
        "vision_robust": gap(vision, "robust"),
        "vision_kit": gap(vision, "VLMEvalKit"),
        "vision_lmms": gap(vision, "lmms-eval"),
        "vision_textbook": gap(vision, "textbook"),
        "steps_own": gap(steps, own("VLMEvalKit")),
        "steps_kit": gap(steps, "VLMEvalKit"),
        "captions_robust": gap(captions, "robust"),
        "captions_kit": gap(captions, "VLMEvalKit"),
        "captions_lmms": gap(captions, "lmms-eval"),
        "qwen_robust": gap(qwen, "robust"),
        "gemini_robust": gap(gemini, "robust"),
        "tools": of_tools(),
        "ranks": ranks([table for table in tables if table.case.benchmark.startswith("MathV")]),
    }


def percent(right: float, n: int) -> str:
    return f"{100 * right / n:.2f}"


def overview(tables: Sequence[Table]) -> str:
    lines = [
        f"| benchmark | model | n | {' | '.join(READINGS)} | widest gap |",
        f"|---|---|---:|{'---:|' * len(READINGS)}---:|",
    ]
    for table in tables:
        cells = " | ".join(marked(table, name) for name in READINGS)
        lines.append(
            f"| {table.case.benchmark} | {table.case.model} | {table.n:,} | {cells} "
            f"| {percent(widest(table), table.n)} |"
        )
    return "\n".join(lines)


def marked(table: Table, name: str) -> str:
    """A score, with the score by the tool's own rule for the benchmark in parentheses if it
    differs."""
    cell = percent(table.right[name], table.n)
    itself = table.right.get(own(name))
    if itself is None or itself == table.right[name]:
        return cell
    return f"{cell} ({percent(itself, table.n)})"


def widest(table: Table) -> float:
    """The widest gap between readings, without the textbook rule, using each tool's better rule."""
    scores = [
        max(table.right[name], table.right.get(own(name), 0.0))
        for name in READINGS
        if name != "textbook"
    ]
    return max(scores) - min(scores)


def widest_gaps(tables: Sequence[Table]) -> str:
    """Sum up the overview's last column, and how far the textbook rule falls behind, in words."""
    gaps = [(100 * widest(table) / table.n, table.case.model) for table in tables]
    textbook = max(
        100 * (table.right["official"] - table.right["textbook"]) / table.n for table in tables
    )
    points, model = max(gaps)
    return (
        f"If a model answers in sentences or works a problem out, the choice of rule changes its "
        f"score by up to {points:.2f} points ({model}), and changes which model ranks first "
        "([MathVision](#mathvision-values-and-letters-that-are-points)). The textbook rule scores "
        f"up to {textbook:.2f} points lower than the official rule."
    )


def tools_themselves(tables: Sequence[Table]) -> str:
    """The scores by the tools' general rules and by their own rules for a benchmark, if Snellen
    implements these."""
    heads = [head for name in OWN for head in (f"{name}'s letters", own(name))]
    lines = [
        f"| benchmark | model | official | {' | '.join(heads)} |",
        f"|---|---|---:|{'---:|' * len(heads)}",
    ]
    for table in tables:
        if not any(own(name) in table.right for name in OWN):
            continue
        lettered = table.case.rules["textbook"] is LETTERS["textbook"]
        scores: list[float | None] = [table.right["official"]]
        for name in OWN:
            scores += [table.right[name] if lettered else None, table.right.get(own(name))]
        cells = ["" if score is None else percent(score, table.n) for score in scores]
        lines.append(f"| {table.case.benchmark} | {table.case.model} | {' | '.join(cells)} |")
    return "\n".join(lines)


def gap(table: Table, name: str) -> str:
    """How a reading differs from the official one, by the pair of rules that fired."""
    cells = table.cells[name]
    net = sum(cell.only_other - cell.only_official for cell in cells)
    assert net == table.right[name] - table.right["official"], "the cells are the gap"
    tool = name.removesuffix(" itself")
    lines = [
        f"| official rule | {tool} rule | right only by official | right only by {tool} | points |",
        "|---|---|---:|---:|---:|",
    ]
    for cell in cells[:SHOWN]:
        points = signed(cell.only_other - cell.only_official, table.n)
        lines.append(
            f"| {cell.official} | {cell.other} | {cell.only_official or ''} "
            f"| {cell.only_other or ''} | {points} |"
        )
    rest = cells[SHOWN:]
    if rest:
        ours = sum(cell.only_official for cell in rest)
        theirs = sum(cell.only_other for cell in rest)
        lines.append(
            f"| {len(rest)} other pairs | | {ours or ''} | {theirs or ''} "
            f"| {signed(theirs - ours, table.n)} |"
        )
    lines.append(
        f"| **all** | | **{sum(cell.only_official for cell in cells)}** "
        f"| **{sum(cell.only_other for cell in cells)}** | **{signed(net, table.n)}** |"
    )
    return "\n".join(lines)


def signed(count: float, n: int) -> str:
    return f"{100 * count / n:+.2f}".replace("-", "\u2212")


def ranks(tables: Sequence[Table]) -> str:
    """List the models in order of their scores, for each reading."""
    lines = []
    for name in READINGS:
        order = sorted(tables, key=lambda table: -table.right[name] / table.n)
        lines.append(f"- {name}: {', '.join(table.case.model for table in order)}")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(), parts([compared(case) for case in cases()])))
