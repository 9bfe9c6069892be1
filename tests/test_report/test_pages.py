"""The HTML of results and comparisons: what it says, and what can run in it."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from msgspec.structs import replace

from snellen import report
from snellen.scoring import Disagreement, PlaceReport, ProbeReport, SliceReport
from tests.test_report.results import HOSTILE, comparisons, metric, result

VOID = {"meta", "br", "link", "img", "input", "circle", "path", "rect", "polyline"}


class Page(HTMLParser):
    """A page's elements with their attributes, and its text as people see it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.raw: dict[str, str] = {}
        self.feed(html)
        self.close()
        assert self.open == []

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))

    def find_all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("style", "script"):
            self.raw[self.open[-1]] = data
        else:
            self.words.append(data)


def pages() -> dict[str, str]:
    two = [result(), result("hf/other")]
    return {
        "one": report.html([result()]),
        "several": report.html(two, comparisons(("openai/m", "hf/other", "third"))),
        "compared": report.compared_html(comparisons()),
        "hostile": report.html(
            [result(HOSTILE, HOSTILE, notes=[HOSTILE]), result(HOSTILE)],
            comparisons((HOSTILE, f"{HOSTILE}2", f"{HOSTILE}3")),
        ),
    }


@pytest.mark.parametrize("which", pages())
def test_a_page_loads_nothing_and_is_well_formed(which: str) -> None:
    page = Page(pages()[which])

    for tag, attributes in page.elements:
        assert "src" not in attributes and "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        assert tag not in ("link", "iframe", "object", "embed", "form", "base", "img")
        assert (attributes.get("href") or "#").startswith("#")
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {(link.get("href") or "#")[1:] for link in page.find_all("a")}
    assert targets <= {*ids}


@pytest.mark.parametrize("which", pages())
def test_only_our_style_and_script_may_run(which: str) -> None:
    page = Page(pages()[which])
    policy = next(
        meta["content"] for meta in page.find_all("meta") if meta.get("http-equiv") is not None
    )

    def allowed(text: str) -> str:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        return f"'sha256-{digest}'"

    assert policy is not None
    assert f"default-src 'none'; style-src {allowed(page.raw['style'])}; " in policy
    assert f"script-src {allowed(page.raw['script'])}; " in policy
    assert len(page.find_all("script")) == len(page.find_all("style")) == 1


@pytest.mark.parametrize("which", pages())
def test_headings_go_down_by_one_and_tables_say_what_they_are(which: str) -> None:
    page = Page(pages()[which])
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]

    assert levels.count(1) == 1 and levels[0] == 1
    assert all(low <= high + 1 for high, low in pairwise(levels))
    assert len(page.find_all("caption")) == len(page.find_all("table")) > 0
    assert all(head.get("scope") in ("col", "row") for head in page.find_all("th"))
    for drawing in page.find_all("svg"):
        assert drawing.get("aria-hidden") == "true" or drawing.get("role") == "img"


def test_what_a_model_or_file_is_called_cannot_act() -> None:
    html = pages()["hostile"]

    assert html.count("<script") == 1
    assert "\u202e" not in html and "\x1b" not in html
    assert html.encode()  # no half of a character
    assert '"><script>alert(1)</script>\ufffd\ufffd[31m\ufffd{{7*7}}' in Page(html).text


def test_the_headline_stands_with_interval_n_and_baselines() -> None:
    text = Page(report.html([result()])).text

    assert "50.00 % metric accuracy (official) 95 % interval [25.00, 75.00] n 200 " in text
    assert "by chance 25.00 % always saying 'B' 30.00 %" in text


def test_states_are_in_plain_sight_those_without_a_reply_too() -> None:
    text = Page(report.html([result()])).text

    assert "190 ok 0 truncated 7 refused 3 failed" in text
    assert "Readings by official 190 answered 7 unparsed 3 no-reply" in text
    assert "Readings by robust 200 answered 0 unparsed" in text


def test_a_state_of_another_version_is_shown_without_a_class_of_its_own() -> None:
    html = report.html([result(replies={"x onclick=1": 200})])

    assert '<span class="state">200 x onclick=1</span>' in html


def test_what_a_result_falls_short_of_comes_before_other_notes() -> None:
    html = report.html([result(asked_of=1_000)])

    short = re.findall(r'<li class="short">(.*?)</li>', html)
    assert short == ["partial: 200 of 1,000", "incomplete: 3 of 200 have no reply"]
    assert "<li>asked on a Sunday</li>" in html


def test_categories_have_both_scorings_and_a_picture_of_the_headlines_interval() -> None:
    html = report.html([result()])
    text = Page(html).text

    # On an axis from 30 % to 70 %: 6 + 168 * (0.4 - 0.3) / 0.4.
    assert '<circle class="dot" cx="48.0" cy="10" r="4.5"/>' in html
    assert "art 40.00 % [30.00, 50.00] 50.00 % 100" in text


def test_a_ladder_is_a_picture_with_words_and_its_numbers() -> None:
    html = report.html([result()])
    text = Page(html).text

    assert "Dashed line (acuity): 6.00 pixels [4.00, 12.00]." in text
    assert "Accuracy at each level of letters" in text
    assert "008 pixels 50.00 % 5" in text


def test_scorings_that_disagree_are_named_with_the_rules() -> None:
    disagreement = Disagreement(
        scorings=("official", "robust"), n=12, by_rule={"none | boxed": 12}, examples=["3", "9"]
    )
    text = Page(report.html([result(disagreements=[disagreement])])).text

    assert (
        "official and robust score 12 replies differently by accuracy, "
        "such as those to samples 3, 9." in text
    )
    assert "none | boxed 12" in text


def test_several_results_have_a_leaderboard_and_models_by_benchmarks() -> None:
    some = [result(), result("hf/other"), result("hf/other", "another")]
    text = Page(report.html(some, comparisons(("openai/m", "hf/other", "third")))).text

    assert "model rank ranks value 95 % interval" in text
    assert "hf/other 2 1-2 55.00 % [50.00, 60.00] ab 200" in text
    assert "model mine another openai/m 50.00 % [25.00, 75.00] (n 200) hf/other" in text


def test_models_stand_beside_one_another_by_category_without_ladders() -> None:
    law = result().report.scorings
    worse = replace(
        law["official"], metrics={**law["official"].metrics, "accuracy/law": metric(0.125, n=100)}
    )
    other = result("hf/other", scorings={**law, "official": worse})
    text = Page(report.html([result(), other])).text

    heads = "mine: accuracy by subject, with 95 % intervals subject n openai/m hf/other"
    assert f"{heads} art 100 40.00 % [30.00, 50.00] 40.00 % [30.00, 50.00]" in text
    assert "law 100 60.00 % [50.00, 70.00] 12.50 %" in text
    assert "mine: accuracy by letters" not in text
    assert "Better at what" not in Page(report.html([result()])).text


def test_what_must_be_said_of_the_sides_stands_with_whether_they_differ() -> None:
    compared = comparisons(("openai/m", "hf/other", "third"))
    text = Page(report.html([result(), result("hf/other")], compared)).text

    assert "(adjusted p 0.0500; p 0.0500 before adjustment). asked on other days" in text
    assert "a note" in text


def test_notes_on_a_pair_stand_with_that_pair() -> None:
    document = comparisons(("openai/m", "hf/other", "third"))
    (first,) = document.comparisons
    second = replace(first, b="third", notes=["139 of 140 count"])
    both = replace(document, comparisons=[first, second])
    text = Page(report.html([result(), result("hf/other")], both)).text

    positions = [text.index(part) for part in ("hf/other is 5.00 pp", "asked on other days")]
    positions += [text.index(part) for part in ("third is 5.00 pp", "139 of 140 count")]
    assert positions == sorted(positions)


def test_a_table_without_intervals_does_not_announce_them() -> None:
    runs = [result(), result("hf/other")]
    for run in runs:
        for name in ("accuracy/art", "accuracy/law"):
            metrics = run.scoring().metrics
            metrics[name] = replace(metrics[name], ci95=None)
    text = Page(report.html(runs)).text

    assert "mine: accuracy by subject subject n openai/m hf/other" in text


def test_a_scoring_over_other_replies_has_its_own_n() -> None:
    sparse = result()
    sparse.scoring().metrics["accuracy/art"] = metric(0.4, n=1)

    assert "art 40.00 % 50.00 % (n 100) 1" in Page(report.html([sparse])).text
    assert "| art | 40.00 % |  | 50.00 % (n 100) |  | 1 |" in report.markdown([sparse])


def test_a_comparison_says_who_is_above_whom_and_whether_it_is_so() -> None:
    text = Page(report.compared_html(comparisons())).text

    assert "two is 5.00 pp below one in accuracy, [-10.00, +0.00]: not significant at 5 %" in text
    assert "art 50.00 % 40.00 % -10.00 pp [-20.00, -1.00]" in text
    assert "right in one 100 20 wrong in one 10 70" in text
    assert "they differ in media.frames: uniform:64 against fps:1" in text
    assert "left out: 3 failed in two, such as 7, 31" in text


def test_a_result_that_no_scoring_reads_has_its_page() -> None:
    text = Page(report.html([result(headline="", scorings={}, breakdown={}, baselines=None)])).text

    assert "190 ok" in text


def test_sixty_categories_take_less_than_400_kilobytes() -> None:
    base = result()
    scoring = base.scoring()
    labels = [f"a category with a name of its own, {number}" for number in range(60)]
    metrics = {
        "accuracy": scoring.metrics["accuracy"],
        **{f"accuracy/{label}": metric(0.5, ci95=(0.4, 0.6)) for label in labels},
    }
    names = ("official", "robust", "vlmevalkit", "lmms-eval")
    scorings = {
        name: type(scoring)(version=1, source="ours", metrics=metrics, readings={"answered": 200})
        for name in names
    }
    html = report.html([result(scorings=scorings, breakdown={"tag": labels}, ladders={})])

    assert html.count("a category with a name of its own") >= 60
    assert len(html.encode()) < 400_000


def test_what_a_probe_tells_has_a_section_of_its_own() -> None:
    probe = ProbeReport(
        probe={"permute_options": 4},
        metrics={"consistency": metric(0.25, ci95=(0.1, 0.4))},
        counts={"complete": 8, "questions": 10},
        places=[
            PlaceReport(
                place="A",
                picked=metric(0.9, ci95=(0.8, 1.0)),
                expected=0.25,
                accuracy=metric(1.0, n=50),
            )
        ],
        p=0.001,
    )
    text = Page(report.html([result(probe=probe)])).text

    data = {"digest": "01234567"}
    plain = {"model": "openai/m", "data": data}
    permuted = result(probe=probe, identity={**plain, "probe": probe.probe})
    several = Page(report.html([result(identity=plain), permuted])).text
    assert "mine × openai/m (permute_options=4)" in several
    assert "consistency 25.00 % [10.00, 40.00]" in text
    assert "8 of 10 questions have a score in all of their passes" in text
    assert "A 90.00 % [80.00, 100.00] 25.00 % 100.00 %" in text


def test_very_long_and_empty_names_have_their_page() -> None:
    page = Page(report.html([result("m" * 100_000), result("", "")]))

    assert "m" * 100_000 in page.text
    assert " × replies from a file" in page.text


def test_no_results_have_a_page_that_says_so() -> None:
    assert "0 runs" in Page(report.html([])).text


def test_what_the_score_may_depend_on_is_shown_what_differs_first() -> None:
    slices = {
        "question_words": SliceReport(bins={"1-8 words": metric(0.5)}, p=0.6, adjusted=0.6),
        "answer_place": SliceReport(
            bins={"A": metric(0.7), "B": metric(0.3)}, p=0.001, adjusted=0.002
        ),
    }
    text = Page(report.html([result(slices=slices)])).text

    first = text.index("position of the right answer: the mean score differs (p 0.002)")
    assert first < text.index(
        "length of the question: the mean score does not differ significantly"
    )
    assert "A 70.00 % 200" in text
