"""ChartQAPro: its prompts, and each rule of its scorings.

Expected scores are those of the authors' evaluate_predictions.py and of lmms-eval's utils.py, at
the commits that the benchmark names, or of the golden pack's README.
"""

from pathlib import Path

import pytest

from snellen.benchmarks import chartqapro as file
from snellen.benchmarks.chartqapro import Preset, chartqapro
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.data import DataFile, Row, find
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "chartqapro"


def score(
    reply: str,
    answer: str,
    years: tuple[str, ...] = ("NO",),
    kind: str = "Factoid",
    scoring: str = "official",
) -> float:
    tags = {"question_type": kind}
    sample = Sample(id="1", question="?", target=answer, tags=tags, data={"years": years})
    rule = chartqapro(data=BUNDLED).scorings[scoring]
    value = rule.score(rule.parse(Reply(text=reply), sample), sample)
    assert isinstance(value, float)
    return value


@pytest.mark.parametrize(
    ("reply", "answer", "expected"),
    [
        ("**Ελλάδα**", "Ελλάδα", 0.6),
        ("105", "100", 1.0),  # 5 % is within
        ("106", "100", 0.0),
        ("20%", "20", 1.0),
        ("0.2", "20%", 0.0),
        ("0.0", "0", 1.0),
        ("nan", "5", 0.0),
        ("1,200", "1200", 0.8),  # no number: ANLS
        ("ab", "ax", 0.0),  # a distance of exactly half of the length
        ("5.\n", "5", 1.0),  # "5." is a number
        ("a.\n", "ab", 0.0),  # the dot stays, since the line break follows it
        ("[Germany, France]", "[Germany, France]", 0.0),  # a reply needs quotes
        ("['Germany', 'France']", "[Germany, France]", 1.0),
        ("['France', 'Germany']", "[Germany, France]", 0.0),
        ("['Germany']", "[Germany, France]", 0.5),
        ("['a', 'b', 'c', 'd']", "['a', 'b']", 0.5),
        ("['NewYork', 'Boston']", "[New York, Boston]", 1.0),  # Python joins quoted words
        ("[New York, Boston]", "[New York, Boston]", 0.0),
        ("[]", "[]", 1.0),
    ],
)
def test_a_reply_is_scored_as_the_authors_script_scores_it(
    reply: str, answer: str, expected: float
) -> None:
    assert score(reply, answer) == pytest.approx(expected, abs=1e-12)


def test_a_year_is_compared_exactly_and_flags_are_repeated_for_lists() -> None:
    assert score("2014", "2015") == 1.0
    assert score("2014", "2015", ("yes",)) == 0.0
    assert score("['2014', '2015']", "[2014, 2015]", ("YES",)) == 1.0
    assert score("['2014', '2016']", "[2014, 2015]", ("YES",)) == 0.5
    assert score("2014", "2015", ("YES", "NO"), kind="Conversational") == 1.0  # the last flag


@pytest.mark.parametrize(("scoring", "expected"), [("official", 0.75), ("lmms-eval", 0.0)])
def test_the_flag_for_exact_matches_has_an_effect_in_lmms_eval_only(
    scoring: str, expected: float
) -> None:
    assert score("tru", "true", kind="Fact Checking", scoring=scoring) == expected
    assert score("tru", "true", ("YES",), "Fact Checking", scoring) == 0.0


def test_blanks_around_a_dot_matter_in_the_official_rule_only() -> None:
    assert score("$5.2M.\n", "$5.2M", ("yes",)) == 0.0
    assert score("$5.2M.\n", "$5.2M", ("yes",), scoring="lmms-eval") == 1.0


def test_a_row_without_flags_is_compared_as_in_lmms_eval() -> None:
    assert score("2014", "2015", ()) == score("2014", "2015", (), scoring="lmms-eval") == 1.0


@pytest.mark.parametrize("preset", ["direct", "cot", "pot"])
def test_a_prompt_has_the_paragraph_and_the_history(preset: Preset) -> None:
    benchmark = chartqapro(preset, BUNDLED)
    samples = [benchmark.read(row) for row in benchmark.data]
    (message,) = benchmark.prompt(samples[6], ())
    assert message.text.startswith(
        "\n            You are given a multi-turn conversation, and your"
    )
    end = "Conversation: ['What was sold?', 'Pears'] Question: How many in the first year?\n"
    assert message.text.endswith(f"            {end}            ")
    (message,) = benchmark.prompt(samples[8], ())
    assert message.text.startswith("Sales of pears have grown steadily.")


def test_lmms_evals_prompt_numbers_the_turns() -> None:
    benchmark = chartqapro("lmms-eval", BUNDLED)
    samples = [benchmark.read(row) for row in benchmark.data]
    assert benchmark.prompt(samples[6], ())[0].text == (
        "Q1: What was sold?\nA1: Pears\nQ2: How many in the first year?\n"
        "Answer the question with a short phrase."
    )
    assert benchmark.prompt(samples[8], ())[0].text.startswith(
        "Context: Sales of pears have grown steadily.\n\nIf sales grow"
    )


def test_a_row_of_the_hub_is_read() -> None:
    fields = {
        "Question": ["What?", "When?"],
        "Answer": ["This", "2020"],
        "Question Type": "Conversational",
        "image": Image(b"png", "a"),
        "Year": ["NO", "YES"],
        "Paragraph": None,
    }
    sample = file.to_sample(Row(fields, 3), chartqapro_file())
    assert (sample.id, sample.question, sample.target) == ("3", "When?", "2020")
    assert sample.data["years"] == ("NO", "YES")
    with pytest.raises(ValueError, match="the field question or answer is empty"):
        file.to_sample(Row({**fields, "Answer": []}, 3), chartqapro_file())


def chartqapro_file() -> DataFile:
    return find(BUNDLED, "chartqapro", ("chartqapro.tsv",))


@pytest.mark.parametrize(
    ("reply", "answer", "expected"),
    [
        ("Adding both bars, the answer is 45.", "45", 1.0),
        ("The answer is 2021.", "2023", 1.0),  # within 5 %, and no year flag
        ("So the answer is pears.", "pears", 1.0),
        ("['2021', '2022']", "[2021, 2022]", 1.0),
        ("It is either 45 or 60.", "45", 0.0),
        ("", "45", 0.0),
    ],
)
def test_robust_takes_what_a_reply_settles_on(reply: str, answer: str, expected: float) -> None:
    assert score(reply, answer, scoring="robust") == expected
