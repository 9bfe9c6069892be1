"""VLMEvalKit's sheets by name: the table of them, their words, and what is made of their rows.

Prompts that are expected here are what `build_prompt` of the set's class gave for these rows, at
the commit that the benchmark names.
"""

import base64
import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from snellen import registry
from snellen.benchmarks import vlmevalkit as file
from snellen.benchmarks.families.vlmevalkit_sets import ELSEWHERE, sets
from snellen.benchmarks.vlmevalkit import ALIASES, OTHER_WORDS, Preset, published, vlmevalkit
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import CatalogError, DataError
from snellen.media.content import Image
from snellen.scoring import score_predictions
from snellen.testing import check_benchmark

BUNDLED = Path(file.__file__).parent / "rows" / "vlmevalkit"
TABLE = Path(file.__file__).parent / "families" / "vlmevalkit_sets.tsv"
# Bytes that nobody opens here.
PICTURE = base64.b64encode(bytes(range(60))).decode()
WITHOUT_MD5 = {
    "PathMMU_TEST",
    "PathMMU_VAL",
    "TreeBench",
    "VMCBench_DEV",
    "VMCBench_TEST",
}


def benchmark_of(
    folder: Path, name: str, rows: Sequence[Mapping[str, str]], prompt: Preset = "vlmevalkit"
) -> Benchmark:
    """The set `name`, of rows that have an index and a picture unless they say otherwise."""
    full = [{"index": str(n), "image": PICTURE, **row} for n, row in enumerate(rows)]
    with (folder / f"{name}.tsv").open("w", encoding="utf-8", newline="") as opened:
        names = list(dict.fromkeys(column for row in full for column in row))
        writer = csv.DictWriter(opened, names, restval="", delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(full)
    return vlmevalkit(name, prompt, folder)


def samples(benchmark: Benchmark) -> list[Sample]:
    return [benchmark.sample(row.position, row) for row in benchmark.data]


def shown_parts(benchmark: Benchmark) -> list[str]:
    """What the first sample's message has, in order; `<picture>` for a picture."""
    (message,) = benchmark.prompt(samples(benchmark)[0], ())
    assert message.role == "user"
    return ["<picture>" if isinstance(part, Image) else str(part) for part in message.content]


# -- the table


def test_every_line_of_the_table_is_a_set_with_an_address_and_a_digest() -> None:
    header, *lines = TABLE.read_text(encoding="utf-8").splitlines()
    assert header == "name\tkind\tmd5\turl"
    for line in lines:
        name, kind, md5, url = line.split("\t")
        assert kind in ("MCQ", "Y/N", "VQA")
        assert re.fullmatch("[0-9a-f]{32}", md5) or (not md5 and name in WITHOUT_MD5), name
        assert re.fullmatch(r"https://[a-z.]+/[\w./-]+\.tsv", url), name


def test_no_set_is_twice_in_the_table() -> None:
    lines = TABLE.read_text(encoding="utf-8").splitlines()[1:]
    assert len(lines) == len({line.split("\t")[0].lower() for line in lines}) == 72


def test_no_two_sets_but_one_in_two_prompts_are_the_same_file() -> None:
    counted = Counter(value.url for value in sets().values())
    assert [url.rpartition("/")[2] for url, n in counted.items() if n > 1] == ["WeMath.tsv"]


@pytest.mark.parametrize(
    ("name", "kind", "md5", "url"),
    [
        (
            "MMStar",
            "MCQ",
            "e1ecd2140806c1b1bbf54b43372efb9e",
            "https://opencompass.openxlab.space/utils/VLMEval/MMStar.tsv",
        ),
        (
            "HRBench8K",
            "MCQ",
            "274c9c7f89329b804a4723178a00219c",
            "https://huggingface.co/datasets/DreamMr/HR-Bench/resolve/main/hr_bench_8k.tsv",
        ),
        (
            "AMBER",
            "Y/N",
            "970d94c0410916166e0a76ba75da7934",
            "https://huggingface.co/datasets/yifanzhang114/AMBER_base64/resolve/main/AMBER.tsv",
        ),
    ],
)
def test_a_sets_sheet_is_published_under_its_name_with_its_digest(
    name: str, kind: str, md5: str, url: str
) -> None:
    (sheet,) = published(name=name, prompt="short")
    assert (sheet.name, sheet.md5, sheet.url) == (f"{name}.tsv", md5, url)
    assert sets()[name].kind == kind


def test_words_of_their_own_are_those_of_sets() -> None:
    assert set(OTHER_WORDS) <= set(sets())


# -- names


def test_every_set_is_a_name_of_the_catalog() -> None:
    assert {name: {"name": name} for name in sets() if name in ALIASES} == ALIASES
    own = set(sets()) - set(ALIASES)
    aliases = [alias for entry in registry.entries() for alias in entry.aliases]
    assert own <= set(aliases)


def test_a_sets_name_is_that_of_one_benchmark() -> None:
    others = [entry for entry in registry.entries() if entry.name != "vlmevalkit"]
    taken = {alias.lower() for entry in others for alias in (entry.name, *entry.aliases)}
    assert not taken & {name.lower() for name in ALIASES}


@pytest.mark.parametrize("spec", ["MMStar_KO", "mmstar_ko", "vlmevalkit:name=MMStar_KO"])
def test_a_set_is_found_by_its_name(spec: str, tmp_path: Path) -> None:
    benchmark = registry.benchmark(spec, data=tmp_path)
    assert benchmark.provenance.options == {"name": "MMStar_KO", "prompt": "vlmevalkit"}
    assert benchmark.data.where.endswith("MMStar_KO.tsv")


def test_a_set_with_a_benchmark_of_its_own_can_still_be_asked_here(tmp_path: Path) -> None:
    assert registry.benchmark("MMStar", data=tmp_path).name == "mmstar"
    benchmark = registry.benchmark("vlmevalkit:name=MMStar", data=tmp_path)
    assert benchmark.name == "vlmevalkit"
    assert benchmark.notes == (
        "MMStar also has a benchmark of its own, with its own rules: `-b MMStar`",
    )


@pytest.mark.parametrize(
    ("name", "close"), [("MMStarr", "MMStar"), ("mmstar", "MMStar"), ("BLINK_VAL", "BLINK")]
)
def test_a_misspelt_set_brings_up_those_that_are_close(name: str, close: str) -> None:
    with pytest.raises(CatalogError, match=f"no set '{name}'. Did you mean {close}"):
        vlmevalkit(name)


def test_a_name_like_no_other_is_told_where_the_names_are() -> None:
    with pytest.raises(CatalogError, match=r"no set 'qqqq'\. `snellen show vlmevalkit`"):
        vlmevalkit("qqqq")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("LLaVABench", "parsed or scored by a judge"),
        ("MathVerse_MINI_Text_Lite", "parsed or scored by a judge"),
        ("Video-MME", "about videos"),
        ("MVBench_MP4_1fps", "about videos"),
        ("OST", "conversations of several turns"),
        ("MMDU", "conversations of several turns, which a judge grades by six criteria"),
        ("BLINK_circular", "rotations"),
        ("MMBench_dev_ar", "rotations"),
        ("MMBench_DEV_CN_V11", "a benchmark of its own: `-b MMBench_DEV_CN_V11`"),
        ("MMMU_DEV_VAL", "a benchmark of its own: `-b MMMU_DEV_VAL`"),
        ("MMBench_V11", "its authors' own use"),
        ("OCRBench", "a benchmark of its own"),
        ("OCRBench_v2", "a benchmark of its own: `-b OCRBench_v2`"),
        ("OmniMedVQA", "not published as one TSV"),
        ("ChartCap", "asks for descriptions"),
        ("XSTest", "no pictures"),
    ],
)
def test_a_set_of_another_kind_says_which(name: str, reason: str) -> None:
    with pytest.raises(
        CatalogError, match=rf"does not support VLMEvalKit's set {name}: .*{reason}"
    ):
        published(name)


def test_a_name_is_in_one_list_alone() -> None:
    listed = Counter(name for names in ELSEWHERE.values() for name in names.split())
    assert [name for name, n in listed.items() if n > 1 or name in sets()] == []


# -- prompts

ANIMALS = {"A": "a cat", "B": "a {dog}", "C": "None"}
LINES = "A. a cat\nB. a {dog}\nC. None\n"
SELECT = "Please select the correct answer from the options above. \n"


@pytest.mark.parametrize(
    ("name", "row", "text"),
    [
        ("MMStar", {**ANIMALS}, f"Question: What?\nOptions:\n{LINES}{SELECT}"),
        (
            "BLINK",
            {**ANIMALS, "hint": "Look."},
            f"Hint: Look.\nQuestion: What?\nOptions:\n{LINES}{SELECT}",
        ),
        (
            "MMVP",
            {"A": "a", "B": "", "C": "c"},
            f"Question: What?\nOptions:\nA. a\nC. c\n{SELECT}",
        ),
        (
            "TreeBench",
            {**ANIMALS, "hint": "Look."},
            f"Hint: Look.\nQuestion: What?\nOptions:\n{LINES}"
            "Answer with the correct option's letter directly. \n",
        ),
        (
            "VMCBench_DEV",
            {**ANIMALS},
            f"Question: What?\nOptions:\n{LINES}"
            "Answer with the option's letter from the given choices directly. \n",
        ),
        (
            "CVQA_LOC",
            {**ANIMALS},
            f"Question: What?\nOptions:\n{LINES}Select the best answer to the above "
            "multiple-choice question based on the image. Respond with only the letter of the "
            "correct option (A, B, C, or D).\nThe best answer is: ",
        ),
        (
            "MSEarthMCQ",
            {**ANIMALS, "hint": "Look."},
            "You are tasked with answering a multiple-choice question about the given input "
            f"image.\n\nHint: Look.\nCaption:\n What?\nOptions:\n{LINES}Based on the image, "
            "select the correct option (e.g., 'A', 'B', 'C', 'D') or directly state the correct "
            "option content, Do not give any explaination.",
        ),
        ("WeMath", {**ANIMALS}, f"Question: What?\nOptions:\n{LINES}"),
        (
            "WeMath_COT",
            {**ANIMALS, "requirement": "Answer {so}."},
            f"Question: What?\nOptions:\n{LINES}\nAnswer {{so}}.",
        ),
        ("CV-Bench-2D", {**ANIMALS, "prompt": "Theirs {a}\n(A) 1"}, "Theirs {a}\n(A) 1"),
        ("VSR-zeroshot", {}, "What?"),
        ("AMBER", {}, "What?\nPlease answer yes or no."),
        (
            "CountBenchQA",
            {},
            "What? Note that: answer with a number directly e.g. 3. "
            "Do not include any additional text.",
        ),
        ("TallyQA", {}, "What?\nAnswer the question using a single number."),
        ("VizWiz", {}, "What?"),
    ],
)
def test_a_set_is_asked_in_vlmevalkits_words(
    name: str, row: dict[str, str], text: str, tmp_path: Path
) -> None:
    assert shown_parts(benchmark_of(tmp_path, name, [{"question": "What?", **row}])) == [
        "<picture>",
        text,
    ]


def test_all_pictures_stand_first(tmp_path: Path) -> None:
    row = {"question": "What?", "image": f"['{PICTURE}', '{PICTURE}']", **ANIMALS}
    assert shown_parts(benchmark_of(tmp_path, "BLINK", [row]))[:2] == ["<picture>", "<picture>"]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("One <image> two <image>.", ["One ", "<picture>", " two ", "<picture>", "."]),
        ("<image><image> Same?", ["<picture>", "<picture>", " Same?"]),
        ("<image>, <image>, <image>?", ["<picture>", ", ", "<picture>", ", ", "?"]),
        ("One <image>.", ["One ", "<picture>", "."]),
    ],
)
def test_muirbenchs_pictures_stand_at_their_marks(
    question: str, parts: list[str], tmp_path: Path
) -> None:
    row = {"question": question, "image": f"['{PICTURE}', '{PICTURE}']", "A": "yes", "B": "no"}
    *before, last = shown_parts(benchmark_of(tmp_path, "MUIRBench", [row]))
    assert [*before, last.partition("\n")[0]] == parts
    assert last.endswith(
        "\nA. yes\nB. no\nAnswer with the option's letter from the given choices directly."
    )


@pytest.mark.parametrize(
    ("name", "row", "text"),
    [
        (
            "MMStar",
            {"hint": "Look.", "A": "yes", "B": "no"},
            "Look.\nWhat?\nA. yes\nB. no\n"
            "Answer with the option's letter from the given choices directly.",
        ),
        ("AMBER", {}, "What?\nAnswer with yes or no."),
        ("TallyQA", {}, "What?\nAnswer the question using a single word or phrase."),
    ],
)
def test_the_short_prompt_asks_all_sets_of_a_kind_alike(
    name: str, row: dict[str, str], text: str, tmp_path: Path
) -> None:
    benchmark = benchmark_of(tmp_path, name, [{"question": "What?", **row}], "short")
    assert shown_parts(benchmark) == ["<picture>", text]


# -- rows


def test_choices_end_at_the_last_cell_that_is_not_empty(tmp_path: Path) -> None:
    row = {"question": "What?", "A": "a", "B": "", "C": "None", "D": "", "answer": "C"}
    (sample,) = samples(benchmark_of(tmp_path, "MMStar", [row]))
    assert sample.choices == ("a", "", "None")
    assert sample.target == "C"


def test_answers_of_test_sets_are_hidden(tmp_path: Path) -> None:
    row = {"question": "What?", **ANIMALS}
    (sample,) = samples(benchmark_of(tmp_path, "Q-Bench1_TEST", [row]))
    assert sample.hidden


@pytest.mark.parametrize(
    ("name", "row", "message"),
    [
        ("MMStar", {"answer": "A"}, "row 1 of MMStar has no choices"),
        ("MMStar", {"A": "a", "B": "b", "answer": "C"}, "answer 'C', which is not one of A, B"),
        ("MMStar", {"A": "a", "B": "b", "answer": "AB"}, "answer 'AB', which is not one of A, B"),
        (
            "MMStar",
            {"A": "a", "B": "", "C": "c", "answer": "B"},
            "answer 'B', which is not one of A, C",
        ),
        ("AMBER", {"answer": "maybe"}, "answer 'maybe', which is not one of Yes or No"),
    ],
)
def test_a_row_that_is_not_of_the_sets_kind_is_an_error(
    name: str, row: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=message):
        samples(benchmark_of(tmp_path, name, [{"question": "What?", **row}]))


@pytest.mark.parametrize("cell", ["Yes", "yes", "YES "])
def test_yes_and_no_are_read_in_any_case(cell: str, tmp_path: Path) -> None:
    (sample,) = samples(benchmark_of(tmp_path, "AMBER", [{"question": "Is it?", "answer": cell}]))
    assert (sample.choices, sample.target) == (("yes", "no"), "yes")


@pytest.mark.parametrize(
    ("column", "cell", "target", "references"),
    [
        ("answer", "a cat", "a cat", ()),
        ("answers", "['red', \"it's red\"]", None, ("red", "it's red")),
        ("answer", '["red", "blue"]', None, ("red", "blue")),
        ("answer", "[3, 4]", "[3, 4]", ()),
        ("answer", "[sic]", "[sic]", ()),
        ("answer", "12", "12", ()),
        ("answer", "['a', 3]", "['a', 3]", ()),
        ("answer", f"[{'-' * 3000}1]", f"[{'-' * 3000}1]", ()),
        ("answer", "[" * 5000, "[" * 5000, ()),
    ],
)
def test_a_list_of_texts_is_several_peoples_answers(
    column: str, cell: str, target: str | None, references: tuple[str, ...], tmp_path: Path
) -> None:
    (sample,) = samples(benchmark_of(tmp_path, "VizWiz", [{"question": "What?", column: cell}]))
    assert (sample.target, sample.references) == (target, references)


def test_rows_without_a_picture_are_left_out(tmp_path: Path) -> None:
    row = {"question": "What?", **ANIMALS, "answer": "A"}
    benchmark = benchmark_of(tmp_path, "MMStar", [{**row, "image": ""}, row, {**row, "image": "1"}])
    assert [sample.id for sample in samples(benchmark)] == ["1", "2"]


def test_samples_that_share_a_picture_are_one_cluster(tmp_path: Path) -> None:
    row = {"question": "What?", **ANIMALS, "answer": "A"}
    benchmark = benchmark_of(tmp_path, "MMStar", [row, {**row, "image": "0"}, row])
    assert benchmark.cluster_by is not None
    first, borrower, other = map(benchmark.cluster_by, samples(benchmark))
    assert first == borrower != other


@pytest.mark.parametrize("column", ["l2-category", "l2_category"])
def test_categories_and_splits_are_tags_where_rows_have_them(column: str, tmp_path: Path) -> None:
    row = {"question": "What?", **ANIMALS, "category": "c", column: "d"}
    benchmark = benchmark_of(tmp_path, "MMStar", [row])
    assert samples(benchmark)[0].tags == {"category": "c", "l2-category": "d", "split": ""}
    assert benchmark.presentation.break_down_by == ("category", "l2-category", "split")


def test_a_set_can_be_made_where_its_sheet_is_not(tmp_path: Path) -> None:
    benchmark = vlmevalkit("BLINK", data=tmp_path)
    with pytest.raises(DataError, match=r"no BLINK\.tsv in"):
        list(benchmark.data)


def test_blinks_digest_is_of_the_sheet_with_corrected_answers() -> None:
    """VLMEvalKit's pull request 1539. Before it the digest was 3b6649b6a662184ea046908e5506260e."""
    (sheet,) = published("BLINK")
    assert sheet.md5 == "d5e8af148b10ac69f535ff7b23f3f989"


# -- scoring


def test_no_scoring_passes_for_a_sets_own() -> None:
    names = {name: list(vlmevalkit(name).scorings) for name in ("MMStar_KO", "AMBER", "VizWiz")}
    assert names == {
        "MMStar_KO": ["generic"],
        "AMBER": ["generic"],
        "VizWiz": ["robust", "generic", "judged"],
    }
    for name in names:
        benchmark = vlmevalkit(name)
        assert {scoring.source for scoring in benchmark.scorings.values()} == {"ours"}
        assert benchmark.notes[0] == f"{name} is scored by our rules, not by its authors' rules"


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("3DSRBench", "right in all orders of its choices and in the mirrored picture"),
        ("tdbench_rot90", "the four rotations of its picture"),
        ("tdbench_cs_zoom", "a judge matches replies without a letter"),
        ("VMCBench_DEV", "by rules of the set's own"),
        ("MMStar_KO", "a judge matches replies without a letter"),
        ("VSR-zeroshot", "precision, recall, and F1"),
    ],
)
def test_a_set_without_official_scoring_states_the_rule_that_it_lacks(name: str, rule: str) -> None:
    _, note = vlmevalkit(name).notes
    assert note.startswith(f"VLMEvalKit's rule for {name}, which is not implemented here: ")
    assert rule in note
    assert re.search(r"\((utils/)?\w+\.py#L\d+-L\d+\)$", note)


def test_mmstars_headline_is_its_authors() -> None:
    benchmark = vlmevalkit("MMStar")
    assert list(benchmark.scorings) == ["official", "generic"]
    assert benchmark.scorings["official"].source.startswith("MMStar-Benchmark/MMStar@")


def values(name: str, replies: dict[str, str], scoring: str = "generic") -> dict[str, float | None]:
    report = score_predictions(vlmevalkit(name, data=BUNDLED), replies, where="here")
    return {key: metric.value for key, metric in report.scorings[scoring].metrics.items()}


def test_figures_of_choices_are_those_worked_out_by_hand() -> None:
    # Right are C A D B A C B D; 1 is unparsed, and 4 and 7 are wrong.
    replies = {
        "0": "C",
        "1": "A or B",
        "2": "The answer is (D).",
        "3": "on a diagonal",
        "4": "B. the green one",
        "5": "\\boxed{C}",
        "6": "B",
        "7": "a spring",
    }
    actual = values("MMStar", replies)
    assert actual["accuracy"] == 5 / 8
    assert actual["accuracy/fine-grained perception"] == 1 / 2
    assert actual["accuracy/instance reasoning"] == 1 / 2
    assert actual["accuracy/science & technology"] == 0
    assert actual["accuracy/object counting"] == 1


def test_figures_of_mmstars_own_rule_are_those_worked_out_by_hand() -> None:
    # Right are C A D B A C B D. 1 begins with A; 2, 3 and 5 with nothing that counts; 7 is missing.
    replies = {
        "0": "c",
        "1": "A or B",
        "2": "The answer is (D).",
        "3": "on a diagonal",
        "4": "Option A",
        "5": "\\boxed{C}",
        "6": "A",
    }
    actual = values("MMStar", replies, "official")
    assert actual["accuracy"] == 3 / 8
    assert actual["accuracy/fine-grained perception"] == 1 / 2
    assert actual["accuracy/instance reasoning"] == 1 / 2
    assert actual["accuracy/science & technology"] == 0


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        # mmstar.py#L53-L67: by position, after capitals, blanks around and line ends are evened.
        ("option b", "B"),
        ("OPTION\nB", "B"),
        ("option  b", None),
        ("option\tb", None),
        ("(b", "B"),
        ("the answer is bad", "B"),
        ("I say the answer is B", None),
        ("It is (B)", None),
        ("the answer is (B", None),
        ("*B", None),
    ],
)
def test_mmstars_own_rule_looks_at_four_places_alone(reply: str, answer: str | None) -> None:
    scoring = vlmevalkit("MMStar").scorings["official"]
    sample = Sample(id="1", question="?", choices=("cat", "dog", "cow", "hen"), target="B")
    reading = scoring.parse(Reply(text=reply), sample)
    assert (reading.answer, scoring.score(reading, sample)) == (answer, float(answer == "B"))


def test_figures_of_yes_and_no_are_those_worked_out_by_hand() -> None:
    replies = {"1": "Yes, there is.", "2": "The disc is blue: no.", "3": "No.", "4": "Perhaps."}
    actual = values("AMBER", replies)
    assert actual == {
        "accuracy": 2 / 4,
        "accuracy/discriminative-attribute-state": 1,
        "accuracy/discriminative-attribute-number": 0,
        "accuracy/discriminative-hallucination": 0,
    }


@pytest.mark.parametrize(("scoring", "accuracy"), [("generic", 4 / 9), ("robust", 7 / 9)])
def test_figures_of_short_answers_are_those_worked_out_by_hand(
    scoring: str, accuracy: float
) -> None:
    # 0: 8 people of 10 say blue. 1: three is 3, which 10 say. 2: one says nothing.
    replies = {"0": "I think the answer is blue.", "1": "Three.", "2": "nothing"}
    assert values("VizWiz", replies, scoring)["accuracy"] == pytest.approx(accuracy, abs=1e-12)


@pytest.mark.parametrize(
    ("scoring", "reply", "answers", "worth"),
    [
        ("generic", "The cat!", ["cat"], 1.0),
        ("generic", "three", ["3"], 1.0),
        ("generic", "eleven", ["11"], 0.0),
        ("generic", "1000", ["1,000"], 1.0),
        ("generic", "its", ["it's"], 1.0),
        # Of "A" nothing would be left without the article.
        ("generic", "A", ["A"], 1.0),
        # One answer or two: any; of three each counts a third, and three are enough.
        ("generic", "red", ["red", "blue"], 1.0),
        ("generic", "red", ["red", "red", "blue"], 2 / 3),
        ("generic", "red", ["red", "red", "red", "blue"], 1.0),
        ("generic", "The answer is red.", ["red"], 0.0),
        ("robust", "The answer is red.\nNo, the answer is blue.", ["blue"], 1.0),
    ],
)
def test_short_answers_are_compared_by_these_rules(
    scoring: str, reply: str, answers: list[str], worth: float
) -> None:
    actual = vlmevalkit("VizWiz").scorings[scoring]
    sample = Sample(id="1", question="?", references=tuple(answers))
    assert actual.score(actual.parse(Reply(text=reply), sample), sample) == pytest.approx(worth)


@pytest.mark.parametrize("name", ["AMBER", "MUIRBench", "VizWiz"])
def test_a_set_of_each_kind_keeps_to_the_contract(name: str) -> None:
    report = check_benchmark(vlmevalkit(name, data=BUNDLED))
    assert report.passed, "\n".join(map(str, report.rows))


def test_the_short_prompt_keeps_to_the_contract() -> None:
    report = check_benchmark(vlmevalkit("MMStar", "short", BUNDLED))
    assert report.passed, "\n".join(map(str, report.rows))
