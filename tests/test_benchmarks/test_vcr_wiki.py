"""VCR-wiki: its rows, prompts, the run of tokens for a covered text, and its figures."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.benchmarks import vcr_wiki as file
from snellen.benchmarks.vcr_wiki import (
    ENGLISH,
    Shown,
    best_run,
    published,
    results,
    signs,
    vcr_wiki,
    with_blanks,
)
from snellen.core.benchmark import Benchmark
from snellen.core.exchange import Published
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, total_score
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image
from snellen.scoring import score_predictions

BUNDLED = Path(file.__file__).parent / "rows" / "vcr_wiki"
ENGLISH_ASK = (
    "What is the covered texts in the image? "
    "Please restore the covered texts without outputting the explanations."
)
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEANl9ngAAAAABJRU5ErkJggg=="
)
CHINESE_ASK = "图像中被覆盖的文本是什么？请在不输出解释的情况下还原被覆盖的文本。"


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    actual = (benchmark.read(row) for row in benchmark.data)
    return {sample.id: sample for sample in actual}


def read(reply: str, *covered: str, **options: Any) -> tuple[Reading, float | None]:
    benchmark = vcr_wiki(data=BUNDLED, **options)
    sample = Sample(id="1", question="", target="\n".join(covered), references=covered)
    scoring = benchmark.scorings[benchmark.headline]
    reading = scoring.parse(Reply(text=reply), sample)
    return reading, total_score(scoring.score(reading, sample))


# -- data


def test_a_row_becomes_a_picture_with_its_covered_texts() -> None:
    sample = samples(vcr_wiki(data=BUNDLED))["0"]
    assert sample.references == ("lie in a small bay", "and are joined at low tide")
    assert sample.target == "lie in a small bay\nand are joined at low tide"
    (shown,) = sample.media
    assert isinstance(shown, Image)
    assert images.load(shown).width == 240


def test_chinese_has_rows_of_its_own() -> None:
    actual = samples(vcr_wiki(lang="zh", data=BUNDLED))
    assert actual["0"].references == ("位于港口以北", "彼此相连")


def test_parquet_has_three_views_of_a_picture(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    picture = (BUNDLED / "VCR-wiki-en-easy-test.tsv").read_text().split("\n")[1].split("\t")[1]
    views = ("stacked_image", "only_it_image", "only_it_image_small")
    cell = {"bytes": base64.b64decode(picture), "path": None}
    row = {"question_id": 900, "caption": "no", "crossed_text": ["a b", "c"]}
    table = pyarrow.Table.from_pylist([row | dict.fromkeys(views, cell)] * 2)
    parquet.write_table(table, tmp_path / "test-00000-of-00001.parquet")
    shown: Shown
    for shown in ("stacked_image", "only_it_image", "only_it_image_small"):
        actual = samples(vcr_wiki(shown=shown, data=tmp_path))
        assert set(actual) == {"0", "1"}
        assert actual["1"].references == ("a b", "c")
        assert shown in str(actual["1"].media[0].label)


def test_a_tsv_has_the_whole_picture_alone() -> None:
    with pytest.raises(DataError, match="only the whole picture"):
        samples(vcr_wiki(shown="only_it_image", data=BUNDLED))


@pytest.mark.parametrize("cell", ["'a'", "7", "[1]", "[", "print('x')"])
def test_a_cell_that_is_no_list_of_texts_is_an_error(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "rows.tsv"
    path.write_text(f"index\timage\tquestion\tanswer\n0\t{PICTURE}\twhat?\t{cell}\n")
    with pytest.raises(DataError, match="row 1"):
        samples(vcr_wiki(data=path))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("VCR_EN_EASY_500", ("en", "easy", "500")),
        ("VCR_ZH_HARD_ALL", ("zh", "hard", "all")),
        ("vcr_wiki_en_hard", ("en", "hard", "all")),
        ("vcr_wiki_zh_easy_100", ("zh", "easy", "100")),
        ("vcr-wiki", ("en", "easy", "all")),
    ],
)
def test_other_toolkits_names_are_known(name: str, wanted: tuple[str, ...]) -> None:
    options = registry.benchmark(name, data=BUNDLED).provenance.options
    assert (options["lang"], options["difficulty"], options["size"]) == wanted


def test_there_are_twelve_sheets_each_with_its_digest() -> None:
    (sheet,) = published("zh", "hard", "100", prompt="official")
    assert sheet.name == "VCR-wiki-zh-hard-test-100.tsv"
    assert sheet.md5 == "b0e38c85f5d5e63894a3b881c372a62b"
    (full,) = published()
    assert full.name == "VCR-wiki-en-easy-test.tsv"
    names = ("en", "zh")
    digests = {
        published(lang, difficulty, size)[0].md5  # type: ignore[arg-type]
        for lang in names
        for difficulty in ("easy", "hard")
        for size in ("all", "500", "100")
    }
    assert len(digests) == 12


# -- prompts


# tianyu-z/VCR@b3be5a9e6ad73edb8f6b612d94a83f958dd5c8cb:src/evaluation/inference.py#L67-L76
@pytest.mark.parametrize("name", ["0", "1", "2"])
@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, ENGLISH_ASK),
        ({"lang": "zh"}, CHINESE_ASK),
        (
            {"prompt": "focused"},
            f"{ENGLISH_ASK} Please focus only on the description text below the image.",
        ),
        ({"lang": "zh", "prompt": "focused"}, f"{CHINESE_ASK}请只关注图片下方的描述性文字。"),
        ({"prompt": "vlmevalkit"}, ENGLISH_ASK),
    ],
)
def test_a_prompt_is_the_published_text_behind_the_picture(
    options: dict[str, Any], text: str, name: str
) -> None:
    benchmark = vcr_wiki(data=BUNDLED, **options)
    sample = samples(benchmark)[name]
    (message,) = benchmark.prompt(sample, ())
    assert message.content == (*sample.media, text)


def test_vlmevalkits_words_are_those_of_the_sheet() -> None:
    benchmark = vcr_wiki(prompt="vlmevalkit", data=BUNDLED)
    sample = Sample(id="1", question="What is hidden?", references=("a",))
    assert benchmark.prompt(sample, ())[0].text == "What is hidden?"
    with pytest.raises(DataError, match="which parquet files lack"):
        benchmark.prompt(Sample(id="1", question="", references=("a",)), ())


# -- scoring


def test_a_covered_text_is_found_in_a_longer_reply() -> None:
    reading, score = read("The text is: a blue disc, I think.", "a blue disc")
    assert reading.answer == ("a blue disc",)
    assert score == 1.0


def test_of_runs_that_are_equally_alike_the_first_is_taken() -> None:
    assert read("ab xy, cd xy", "ef xy")[0].answer == ("ab xy",)
    # The second has more of the letters, but not in their order: 8 of 16 signs both times.
    assert read("ab xy cd qqqqqqqqqqqq zz xy cd", "ef xy zz")[0].answer == ("ab xy cd",)


def test_the_run_is_the_first_text_of_the_comparison_and_the_covered_one_the_second() -> None:
    """evaluation_metrics.py#L87. The other way round "xa ax" would be 2 of 5 alike and no more than
    "ab ba", which comes first."""
    assert read("ab ba xa ax", "ax ab")[0].answer == ("xa ax",)
    assert best_run("ax ab", ["xa", "ax"], ENGLISH) == ("xa ax", 0.6)


def test_signs_that_are_common_in_a_covered_text_of_200_are_not_looked_for() -> None:
    """difflib's heuristic, which the authors leave on: all of these are, so that nothing is alike
    that does not begin alike. Of 195 signs more than 98 % would be."""
    for times, answer in ((40, None), (33, ("cd" + " ab cd" * 32 + " ab",))):
        covered = " ".join(["ab cd"] * times)
        assert len(covered) == 6 * times - 1
        assert read(f"cd {covered[:-3]}", covered)[0].answer == answer


def test_a_run_has_as_many_tokens_as_the_covered_text() -> None:
    """Where the reply is shorter, it is worth nothing, whatever it says."""
    reading, score = read("a blue", "a blue disc")
    assert (reading.answer, reading.rule, score) == (None, "no shared token", 0.0)


def test_a_run_shares_a_token_even_where_another_is_more_alike() -> None:
    """ "a blues disk" is more alike in letters; it shares no token of "the blue disc"."""
    assert read("then blues disks", "the blue disc")[0].answer is None
    assert read("xxx blue yyy", "the blue disc")[0].answer == ("xxx blue yyy",)


def test_case_counts() -> None:
    assert read("A Blue Disc", "a blue disc")[0].answer is None


def test_tokens_are_joined_by_spaces_and_compared_with_the_text_as_it_stands() -> None:
    """2 * 18 of 18 + 22 signs."""
    run, alike = best_run("John's city-state", ENGLISH.tokens("John's city-state"), ENGLISH)
    assert run == "John 's city - state"
    assert alike == pytest.approx(2 * 17 / (17 + 20))


def test_shared_tokens_are_counted_by_sets() -> None:
    """{the, cat, and, dog} and {the, cat, and, hen}: 3 of 5."""
    _, score = read("the cat and the dog", "the cat and the hen")
    assert score == pytest.approx(3 / 5)


def test_blanks_that_are_tokens_are_shared_as_others_are() -> None:
    """{a, blank, c} and {a, blank, b}: 2 of 4."""
    assert read("a  c", "a  b")[1] == pytest.approx(2 / 4)


def test_only_what_follows_the_last_assistant_is_read() -> None:
    assert read("sorry Assistant: x Assistant: a blue disc", "a blue disc")[1] == 1.0
    assert read("a blue disc Assistant: x", "a blue disc")[1] == 0.0
    assert read("Assistant: a blue disc Assistant: x", "a blue disc")[1] == 0.0
    # To the letter, with the blank (evaluation_metrics.py#L176).
    assert read("a blue disc Assistant:x", "a blue disc")[1] == 1.0
    assert read("a blue disc assistant: x", "a blue disc")[1] == 1.0


@pytest.mark.parametrize(
    "reply",
    [
        "I can't see it: a blue disc",
        "I cannot see it: a blue disc",
        "SORRY, a blue disc",
        "无法 a blue disc",
        "抱歉 a blue disc",
        "As far as I can see I cannot: a blue disc",
    ],
)
def test_a_refusal_is_worth_nothing_whatever_else_it_says(reply: str) -> None:
    reading, score = read(reply, "a blue disc")
    assert (reading.answer, reading.rule, score) == (None, "refusal", 0.0)


@pytest.mark.parametrize(
    "reply", ["Perhaps i can't, i cannot: a blue disc", "I can't. Assistant: a blue disc"]
)
def test_a_refusal_in_small_letters_or_before_the_assistant_is_none(reply: str) -> None:
    """utils.py#L330-L342: of them "sorry" alone is looked for in any case."""
    assert read(reply, "a blue disc")[1] == 1.0


def test_a_covered_text_of_several_that_is_not_found_is_empty() -> None:
    reading, score = read("a blue disc", "a blue disc", "the moon")
    assert reading.answer == ("a blue disc", "")
    assert score == 0.5


def test_chinese_is_compared_by_signs() -> None:
    reading, score = read("它位于 港口以南。", "位于港口以北", lang="zh")
    assert reading.answer == ("它位于港口以",)
    assert score == pytest.approx(5 / 7)
    assert vcr_wiki(lang="zh", data=BUNDLED).scorings["characters"].source == "ours"
    assert signs(" 北 a\n") == ["北", "a"]


def test_a_chinese_result_says_what_it_lacks() -> None:
    (notes,) = vcr_wiki(lang="zh", data=BUNDLED).notes
    assert "no official scoring for Chinese" in notes
    assert vcr_wiki(data=BUNDLED).notes == ()


KEPT_WITH_PERIOD = """
Ak. Ala. Apr. Ariz. Ark. Aug. Calif. Colo. Conn. Dec. Del. Feb. Fla. Ga. Ia. Id. Ill. Ind. Jan.
Jul. Jun. Kan. Kans. Ky. La. Mass. Mich. Minn. Miss. N.C. N.D. N.H. N.J. N.M. N.Y. Neb. Nebr. Nev.
Nov. Oct. Okla. Ore. Pa. S.C. Sep. Sept. Tenn. Va. Wash. Wis. a.m. Adm. Bros. co. Co. Corp. D.C.
Dr. e.g. E.g. E.G. Gen. Gov. i.e. I.e. I.E. Inc. Jr. Ltd. Md. Messrs. Mo. Mont. Mr. Mrs. Ms. Mt.
p.m. Ph.D. Prof. Rep. Rev. Sen. St. vs. v.s. and/or w/o ma'am o'clock
"""


@pytest.mark.parametrize(
    ("word", "tokens"),
    [
        *((word, [word]) for word in KEPT_WITH_PERIOD.split()),
        *((f"{h}{half}", [str(h), half]) for h in (1, 12) for half in ("a.m.", "p.m.", "am", "pm")),
        ("Dez.", ["Dez", "."]),
    ],
)
def test_words_with_rules_of_their_own_are_spacys(word: str, tokens: list[str]) -> None:
    """explosion/spaCy:spacy/lang/en/tokenizer_exceptions.py, version 3.8."""
    assert ENGLISH.tokens(word) == tokens


@pytest.mark.parametrize(
    "tokens",
    [
        ["a", "b"],
        ["a", " ", "b"],
        [" ", "a"],
        ["a", "\n"],
        ["\n ", "a", "  ", "b", "\n"],
        [" "],
    ],
)
def test_a_run_is_read_as_the_tokens_it_was_joined_of(tokens: list[str]) -> None:
    assert with_blanks(" ".join(tokens)) == tokens


# -- figures


def sheet(folder: Path, *covered: list[str]) -> Path:
    path = folder / "VCR-wiki-en-easy-test.tsv"
    rows = (f"{position}\t{PICTURE}\twhat?\t{texts!r}" for position, texts in enumerate(covered))
    path.write_text("\n".join(["index\timage\tquestion\tanswer", *rows]) + "\n")
    return path


def test_metrics_are_over_covered_texts_not_pictures(tmp_path: Path) -> None:
    """Three texts of one picture, right; one of another, of which 1 of 3 tokens is. By hand."""
    path = sheet(tmp_path, ["a b", "c d", "e f"], ["g h"])
    report = score_predictions(vcr_wiki(data=path), {"0": "a b c d e f", "1": "g i"}, where="here")
    metrics = report.scorings["official"].metrics
    assert [*metrics] == ["exact_match", "jaccard", "precision", "recall", "f1"]
    assert metrics["exact_match"].value == 3 / 4
    assert metrics["jaccard"].value == pytest.approx((3 + 1 / 3) / 4)
    assert metrics["exact_match"].n == metrics["jaccard"].n == 2


def test_precision_and_recall_are_of_the_sets_of_tokens(tmp_path: Path) -> None:
    """{the, cat, and, dog} against {the, cat, and, hen, sat}; another text has no run. By hand."""
    path = sheet(tmp_path, ["the cat and the hen sat"], ["moon"])
    replies = {"0": "the cat and the dog dog", "1": "sun"}
    report = score_predictions(vcr_wiki(data=path), replies, where="here")
    metrics = report.scorings["official"].metrics
    assert metrics["precision"].value == pytest.approx((3 / 4) / 2)
    assert metrics["recall"].value == pytest.approx((3 / 5) / 2)
    assert metrics["f1"].value == pytest.approx((2 * 3 / (4 + 5)) / 2)
    assert metrics["f1"].n == 2


def test_a_text_is_matched_exactly_where_its_tokens_are(tmp_path: Path) -> None:
    path = sheet(tmp_path, ["a city-state (old)"])
    replies = {"0": "It is a city - state ( old )."}
    report = score_predictions(vcr_wiki(data=path), replies, where="here")
    assert report.scorings["official"].metrics["exact_match"].value == 1.0


@pytest.mark.parametrize(
    ("covered", "reply", "jaccard"), [("a Blue disc", "a blue disc", 2 / 4), ("a b", "b a", 1.0)]
)
def test_a_text_with_other_capitals_or_in_another_order_is_not_matched_exactly(
    tmp_path: Path, covered: str, reply: str, jaccard: float
) -> None:
    report = score_predictions(vcr_wiki(data=sheet(tmp_path, [covered])), {"0": reply}, where="-")
    metrics = report.scorings["official"].metrics
    assert metrics["exact_match"].value == 0.0
    assert metrics["jaccard"].value == pytest.approx(jaccard)


def test_metrics_have_an_interval(tmp_path: Path) -> None:
    path = sheet(tmp_path, *([f"a{n} b", "c"] for n in range(40)))
    replies = {str(n): f"a{n} b" if n % 3 else "no" for n in range(40)}
    report = score_predictions(vcr_wiki(data=path), replies, where="here")
    for metric in report.scorings["official"].metrics.values():
        assert metric.ci95 is not None
        assert metric.value is not None
        assert 0 < metric.ci95[0] < metric.value < metric.ci95[1] < 1


def test_a_picture_without_a_reply_is_in_no_mean_unless_it_is_forced(tmp_path: Path) -> None:
    rows = sheet(tmp_path, ["a b"], ["c d"])
    text = tmp_path / "results.json"
    text.write_text(json.dumps({"0": {"res_stacked_image": "a b"}}))
    for missing, value in ((None, 1.0), ("wrong", 0.5)):
        report = snellen.score(text, "vcr-wiki", data=rows, missing=missing).report  # type: ignore[arg-type]
        metrics = report.scorings["official"].metrics
        assert {metric.value for metric in metrics.values()} == {value}


# -- results


def test_the_authors_results_have_a_reply_for_each_view(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    text = json.dumps(
        {
            "0": {"res_stacked_image": "a", "res_only_it_image": "b"},
            "1": {"res_stacked_image": ["c"], "res_only_it_image": None},
            "2": {"res_stacked_image": {"error": "x"}},
            "3": {"res_stacked_image": ""},
        }
    )
    path.write_text(text)
    stacked = Published(replies={"0": "a", "1": "c", "2": "", "3": ""})
    assert results(path, "stacked_image") == stacked
    alone = Published(replies={"0": "b", "1": None, "2": None, "3": None})
    assert results(path, "only_it_image") == alone
    packed = tmp_path / "results.json.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert results(packed, "stacked_image") == stacked


@pytest.mark.parametrize("text", ["", "[]", "{}", "{no", '{"0": "a"}', '{"0": {"text": "a"}}'])
def test_a_file_of_another_form_is_left_to_others(tmp_path: Path, text: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(text)
    assert results(path, "stacked_image") is None
    assert results(tmp_path, "stacked_image") is None


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        ({"res_only_it_image": "a"}, "shown=only_it_image"),
        ({"res_stacked_image": 7}, "must be text, or a list with a single text"),
        ({"res_stacked_image": ["a", "b"]}, "must be text, or a list with a single text"),
    ],
)
def test_results_that_cannot_be_read_are_an_error(
    tmp_path: Path, replies: dict[str, object], message: str
) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"0": replies}))
    with pytest.raises(DataError, match=message):
        results(path, "stacked_image")
