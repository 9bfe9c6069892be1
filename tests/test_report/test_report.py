"""Reports for people: what they say, and what names and rules out of files cannot make them do."""

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from snellen import report
from snellen.analysis.result import MetricText, Result, shown
from snellen.registry import BUNDLED
from snellen.report import table_rows
from snellen.report.companions import companions
from snellen.scoring import (
    Baselines,
    CapabilityReport,
    CostReport,
    Disagreement,
    Explained,
    Explanation,
    JudgedBy,
    JudgeReport,
    MetricReport,
    Report,
    ScoringReport,
    Seconds,
)

FEW = "3 clusters: an interval needs at least 10"
WERE_WRONG = "if all missing and refused replies were wrong"


def metric(value: float | None, n: int = 200, unit: str = "fraction", **more: Any) -> MetricReport:
    return MetricReport(value=value, unit=unit, n=n, **{"stderr": None, "ci95": None, **more})


def report_of(**changes: Any) -> Report:
    """Two scorings of 200 replies, with a category that one of them has no value for."""
    official = {
        "accuracy": metric(0.615, stderr=0.034, ci95=(0.546, 0.68), bounds=(0.6, 0.625)),
        "points": metric(1432.5, unit="MME points", ci95=(1400.0, 1465.25)),
        "accuracy/art": metric(0.5, n=4, reason=FEW),
        "accuracy/law": metric(None, n=0, reason="no scores"),
    }
    robust = {"accuracy": metric(0.62, ci95=(0.55, 0.69)), "accuracy/art": metric(0.75, n=4)}
    source = "them/theirs@0123abc:score.py#L1-L9"
    report = Report(
        format=0,
        benchmark="mine",
        model="openai/m",
        n=205,
        headline="official",
        replies={"ok": 195, "truncated": 5, "failed": 5},
        scorings={
            "official": ScoringReport(
                version=2,
                source=source,
                metrics=official,
                readings={"answered": 190, "unparsed": 10, "no-reply": 5},
            ),
            "robust": ScoringReport(
                version=1,
                source="ours",
                metrics=robust,
                readings={"answered": 200, "no-reply": 5},
            ),
        },
        breakdown={"subject": ["art", "law", "music"]},
        disagreements=[
            Disagreement(
                scorings=("official", "robust"),
                n=3,
                by_rule={"boxed | last letter": 2, "none | last letter": 1},
                examples=["7", "31", "90"],
            )
        ],
        notes=["incomplete: 5 of 205 have no reply"],
        identity={
            "benchmark": "mine",
            "model": "openai/m",
            "options": {"split": "test", "columns": {"id": ["id"]}},
            "profile": {},
            "generation": {"max_tokens": 64, "temperature": None},
        },
        spent=CostReport(
            replies=205,
            questions=205,
            tokens={"input": 61_500, "output": 205},
            cost=0.41,
            currency="USD",
            seconds=75,
            first=Seconds(mean=0.3, p50=0.25, p90=0.5),
            total=Seconds(mean=1.3, p50=1.25, p90=2.5),
        ),
        incomplete=True,
    )
    return msgspec.structs.replace(report, **changes)


def test_the_n_of_a_judges_measures_leaves_out_replies_on_which_people_are_divided() -> None:
    measured = JudgeReport(
        labelled=20,
        raters=2,
        alpha=0.6,
        agreement=metric(1.0, n=16),
        bias=metric(0.0, n=20),
        judged=metric(0.5, n=40),
        corrected=metric(0.5, n=40),
        weight=1.0,
        labels_alone=metric(0.5, n=20),
        rogan_gladen=0.5,
        kappa=1.0,
    )
    ((_, rows, _),) = table_rows.judges(Result(report_of(judges={"official": measured})))
    n_of = {what: n for what, _, _, n, _ in rows}

    assert (n_of["agreement"], n_of["Rogan-Gladen"], n_of["Cohen's kappa"]) == ("16", "16", "16")
    assert n_of["agreement of people, Krippendorff's alpha"] == "20"


# -- numbers


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [
        (metric(0.61254), MetricText("61.25 %", "", "200", "")),
        (metric(0.0), MetricText("0.00 %", "", "200", "")),
        (metric(-0.00001), MetricText("0.00 %", "", "200", "")),
        (metric(1.0, n=12_345), MetricText("100.00 %", "", "12,345", "")),
        (metric(0.5, ci95=(0.25, 0.75)), MetricText("50.00 %", "[25.00, 75.00]", "200", "")),
        (metric(1432.5, unit="MME points"), MetricText("1,432.50 MME points", "", "200", "")),
        (metric(0.31275, unit="BLEU 0-1"), MetricText("0.3127 BLEU 0-1", "", "200", "")),
        (
            metric(2.9, unit="pixels", ci95=(0.5, 3.304)),
            MetricText("2.90 pixels", "[0.50, 3.30]", "200", ""),
        ),
        (metric(None, n=0, reason="no scores"), MetricText("-", "", "0", "no scores")),
        (metric(0.5, n=3, reason=FEW), MetricText("50.00 %", "", "3", FEW)),
        (
            metric(1.5, unit="points", bounds=(1, 2)),
            MetricText("1.50 points", "", "200", f"1.00 points {WERE_WRONG}, 2.00 points if right"),
        ),
        (
            metric(0.5, bounds=(0.4, 0.6)),
            MetricText("50.00 %", "", "200", f"40.00 % {WERE_WRONG}, 60.00 % if right"),
        ),
    ],
)
def test_a_metric_is_shown_with_its_unit_interval_and_reason(
    estimate: MetricReport, expected: MetricText
) -> None:
    assert shown(estimate) == expected


# -- the formats

MARKDOWN = r"""## mine × openai/m

| scoring | metric | value | 95 % interval | n | remark |
| --- | --- | --- | --- | --- | --- |
| official | accuracy | 61.50 % | \[54.60, 68.00\] | 200 | 60.00 % if all missing and refused replies were wrong, 62.50 % if right |
| official | points | 1,432.50 MME points | \[1,400.00, 1,465.25\] | 200 |  |
| robust | accuracy | 62.00 % | \[55.00, 69.00\] | 200 |  |

- note: incomplete: 5 of 205 have no reply

| subject | official | 95 % interval | robust | 95 % interval | n | remark |
| --- | --- | --- | --- | --- | --- | --- |
| art | 50.00 % |  | 75.00 % |  | 4 | 3 clusters: an interval needs at least 10 |
| law | - |  |  |  | 0 | no scores |

official and robust score 3 replies differently by accuracy, such as those to samples 7, 31, 90:

| official's rule \| robust's rule | n |
| --- | --- |
| boxed \| last letter | 2 |
| none \| last letter | 1 |

- replies: 205 (195 ok, 5 truncated, 5 failed)
- official, readings: 190 answered, 10 unparsed, 5 no-reply
- robust, readings: 200 answered, 5 no-reply
- tokens (per question): 61,500 input (300.0), 205 output (1.0)
- cost (per question): 0.410 USD (0.00200 USD)
- request time: median 1.25 s, p90 2.50 s; first byte 0.25 s, p90 0.50 s; 3.6 requests in flight on average
- time: 1 min 15 s
- official, source: them/theirs@0123abc:score.py\#L1-L9, version 2
- robust, source: ours, version 1
- options: split=test, columns=(id=id)
- generation: max\_tokens=64
"""  # noqa: E501

CSV = """\
benchmark,model,scoring,version,metric,value,unit,n,stderr,low,high,bound_low,bound_high,reason,run,remark,named,failed,not_judged,cost_per_question,currency,median_seconds,in_flight,failed_requests,better
mine,openai/m,official,2,accuracy,0.615,fraction,200,0.034,0.546,0.68,0.6,0.625,,,incomplete,mine × openai/m,5,0,0.002,USD,1.25,3.5533333333333332,,
mine,openai/m,official,2,points,1432.5,MME points,200,,1400.0,1465.25,,,,,incomplete,mine × openai/m,5,0,0.002,USD,1.25,3.5533333333333332,,
mine,openai/m,official,2,accuracy/art,0.5,fraction,4,,,,,,3 clusters: an interval needs at least 10,,incomplete,mine × openai/m,5,0,0.002,USD,1.25,3.5533333333333332,,
mine,openai/m,official,2,accuracy/law,,fraction,0,,,,,,no scores,,incomplete,mine × openai/m,5,0,0.002,USD,1.25,3.5533333333333332,,
mine,openai/m,robust,1,accuracy,0.62,fraction,200,,0.55,0.69,,,,,incomplete,mine × openai/m,5,0,0.002,USD,1.25,3.5533333333333332,,
mine,openai/m,robust,1,accuracy/art,0.75,fraction,4,,,,,,,,incomplete,mine × openai/m,5,0,0.002,USD,1.25,3.5533333333333332,,
"""  # noqa: E501

TERMINAL = """
mine × openai/m
 scoring    metric                   value          95 % interval     n   remark
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 official   accuracy               61.50 %         [54.60, 68.00]   200   60.00 % if all missing and refused replies were wrong, 62.50 % if right
 official   points     1,432.50 MME points   [1,400.00, 1,465.25]   200
 robust     accuracy               62.00 %         [55.00, 69.00]   200
note: incomplete: 5 of 205 have no reply

by subject
 subject   official   95 % interval    robust   n   remark
──────────────────────────────────────────────────────────────────────────────────────────────
 art        50.00 %                   75.00 %   4   3 clusters: an interval needs at least 10
 law              -                             0   no scores

official and robust score 3 replies differently by accuracy, such as those to samples 7, 31, 90
 official's rule | robust's rule   n
─────────────────────────────────────
 boxed | last letter               2
 none | last letter                1

replies                205 (195 ok, 5 truncated, 5 failed)
official, readings     190 answered, 10 unparsed, 5 no-reply
robust, readings       200 answered, 5 no-reply
tokens (per question)  61,500 input (300.0), 205 output (1.0)
cost (per question)    0.410 USD (0.00200 USD)
request time           median 1.25 s, p90 2.50 s; first byte 0.25 s, p90 0.50 s; 3.6 requests in flight on average
time                   1 min 15 s
official, source       them/theirs@0123abc:score.py#L1-L9, version 2
robust, source         ours, version 1
options                split=test, columns=(id=id)
generation             max_tokens=64
"""  # noqa: E501


def test_markdown_has_tables_notes_disagreements_and_what_identifies_the_run() -> None:
    assert report.markdown([Result(report_of())]) == MARKDOWN


def test_csv_has_a_row_for_each_metric_with_numbers_in_full() -> None:
    assert report.csv([Result(report_of())]) == CSV


def test_the_terminal_shows_the_same() -> None:
    lines = report.as_text([Result(report_of())]).splitlines()
    assert [line.rstrip() for line in lines] == TERMINAL.splitlines()


def several() -> list[Result]:
    """A whole run, and a part of one without a value."""
    nothing = ScoringReport(
        version=1,
        source="ours",
        metrics={"acuity": metric(None, n=0, unit="pixels", reason="no level is read")},
        readings={"no-reply": 4},
    )
    part = report_of(
        model="other",
        n=4,
        asked_of=1_205,
        headline="own",
        replies={"failed": 4},
        incomplete=True,
        scorings={"own": nothing},
    )
    return [Result(report_of()), Result(part)]


OVERVIEW = """
2 runs
 benchmark   model      n   metric   value   95 % interval   failed   unparsed   COSTS   remark
──────────────────────────────────────────────────────────────────────────────────────────────
 mine   openai/m   200   accuracy   61.50 %   [54.60, 68.00]   5   10   PRICE   incomplete
 mine   other        0   acuity           -                    4    0   PRICE   REMARK
`snellen report RUN` shows one run in full, with its notes
"""


def test_several_results_are_a_table_with_a_line_for_each_in_the_terminal() -> None:
    remark = "partial: 4 of 1,205; incomplete; no level is read"
    lines = [re.sub(" +", " ", line).strip() for line in report.as_text(several()).splitlines()]

    expected = (
        OVERVIEW.replace("REMARK", remark)
        .replace("COSTS", "cost/question median time")
        .replace("PRICE", "0.00200 USD 1.25 s")
        .splitlines()
    )
    assert [line for line in lines if "─" not in line] == [
        re.sub(" +", " ", line).strip() for line in expected if "─" not in line
    ]


def test_a_line_of_the_table_stays_whole_whatever_the_name() -> None:
    name = "openai/" + "very-long-" * 30
    two = [Result(report_of(model=name)), Result(report_of(model="other"))]

    assert re.search(rf"^ mine +{name} +200 ", report.as_text(two), re.MULTILINE)


def test_runs_of_one_model_are_told_apart_by_their_own_names() -> None:
    two = [Result(report_of(), Path("runs/mine/m") / name) for name in ("0a1b", "2c3d")]
    text = report.as_text(two)

    assert re.search(r"95 % interval +failed +unparsed .* run *$", text, re.MULTILINE)
    assert re.findall(r"1.25 s +(\w{4}) *$", text, re.MULTILINE) == ["0a1b", "2c3d"]
    assert f"such as {Path('runs/mine/m/0a1b')}" in text


def test_markdown_has_the_same_table_and_then_each_report_whole() -> None:
    text = report.markdown(several())

    headings = re.findall("^## (.*)$", text, re.MULTILINE)
    assert headings == ["2 runs", "mine × openai/m", "mine × other"]
    row = (
        "| mine | openai/m | 200 | accuracy | 61.50 % | \\[54.60, 68.00\\] | 5 | 10 "
        "| 0.00200 USD | 1.25 s | incomplete |"
    )
    assert row in text
    assert MARKDOWN in text


FULL: dict[str, Any] = {"model": "openai/m"}
SMALL = {**FULL, "profile": {"images": {"max_side": 168}}}


def test_runs_of_one_model_are_told_apart_by_their_settings_in_every_format() -> None:
    full, small = report_of(identity=FULL), report_of(identity=SMALL)
    two = [Result(full, Path("runs/0a1b")), Result(small, Path("runs/2c3d"))]
    name = "openai/m (max_side=168)"

    assert re.search(rf"^ mine +{re.escape(name)} +200 .* 2c3d ", report.as_text(two), re.MULTILINE)
    assert re.findall("^## (.*)$", report.markdown(two), re.MULTILINE)[1:] == [
        "mine × openai/m",
        "mine × openai/m (max\\_side=168)",
    ]
    names = [row["named"] for row in csv.DictReader(io.StringIO(report.csv(two)))]
    assert names == ["mine × openai/m"] * 6 + [f"mine × {name}"] * 6
    assert f">mine × {name}<" in report.html([Result(full), Result(small)])
    assert r"openai/m & openai/m (max\_side=168) \\" in report.latex(two)  # by category


def test_a_model_has_one_name_on_all_benchmarks_asked_with_the_same_settings() -> None:
    three = [
        Result(report_of(identity=FULL)),
        Result(report_of(identity=SMALL)),
        Result(report_of(benchmark="other", identity=SMALL)),
    ]

    text = report.markdown(three)
    assert "| other | openai/m (max\\_side=168) |" in text
    assert "| mine | openai/m |" in text


def test_runs_that_nothing_tells_apart_have_a_number() -> None:
    text = report.as_text([Result(report_of()), Result(report_of())])

    assert re.findall(r"^ mine +openai/m \((\d)\) ", text, re.MULTILINE) == ["1", "2"]


def test_options_of_a_known_benchmark_are_named_where_they_are_not_the_usual_ones() -> None:
    def chart(**options: Any) -> Result:
        identity = {"benchmark": "eyechart", "options": {"seed": 0, **options}}
        return Result(report_of(benchmark="eyechart", identity=identity))

    text = report.as_text([chart(n=648), chart(n=100)])  # 648 is what eyechart has unasked
    assert re.findall("^ (eyechart[^ ]*) ", text, re.MULTILINE) == ["eyechart", "eyechart:n=100"]


def test_models_with_one_benchmark_are_said_to_be_left_out_by_capability() -> None:
    other = asking("mine", 0.5, 100)
    other.report = msgspec.structs.replace(other.report, model="lone")

    note = "left out, with fewer than two benchmarks (not counting probes): lone"
    assert f"note: {note}" in report.as_text([asking("mine", 0.5, 9), asking("b", 0.7, 9), other])
    assert note not in report.as_text([asking("mine", 0.5, 9), asking("b", 0.7, 9)])


def test_csv_has_several_results_under_one_row_of_names() -> None:
    two = [Result(report_of()), Result(report_of(model="other"))]

    rows = list(csv.DictReader(io.StringIO(report.csv(two))))
    assert [row["model"] for row in rows] == ["openai/m"] * 6 + ["other"] * 6


def test_a_result_that_no_scoring_reads_has_its_line_too() -> None:
    unread = Result(report_of(model="other", headline="", scorings={}, disagreements=[]))

    assert re.search(r"mine +other +0 +5 +0", report.as_text([Result(report_of()), unread]))


def test_a_remark_that_all_rows_share_is_said_once() -> None:
    rows = {"accuracy": metric(0.5, reason=FEW), "f1": metric(0.6, reason=FEW)}
    few = ScoringReport(version=1, source="ours", metrics=rows, readings={"answered": 3})
    text = report.as_text(
        [Result(report_of(scorings={"own": few}, breakdown={}, disagreements=[]))]
    )

    assert text.count(FEW) == 1
    assert "remark" not in text


def test_many_categories_are_left_to_the_other_formats_and_that_is_said() -> None:
    labels = [f"c{number:02}" for number in range(41)]
    metrics = {"accuracy": metric(0.5), **{f"accuracy/{label}": metric(0.5) for label in labels}}
    own = ScoringReport(version=1, source="ours", metrics=metrics, readings={"answered": 200})
    result = Result(report_of(scorings={"own": own}, breakdown={"tag": labels}, disagreements=[]))

    text = report.as_text([result])
    assert "by tag: 41 categories; --format md or csv shows them" in text
    assert "c07" not in text
    assert "c07" in report.markdown([result])


def test_many_rules_are_cut_short_and_that_is_said() -> None:
    rules = {f"rule {number:02} | other": 1 for number in range(13)}
    disagreement = Disagreement(
        scorings=("official", "robust"), n=13, by_rule=rules, examples=["1"]
    )

    text = report.as_text([Result(report_of(disagreements=[disagreement]))])
    assert "rule 09" in text
    assert "rule 10" not in text
    assert "3 other pairs" in text


def test_a_result_without_a_model_is_called_what_it_is() -> None:
    assert "mine × replies from a file" in report.as_text([Result(report_of(model=""))])


def test_markdown_is_written_beside_the_report_of_a_run(tmp_path: Path) -> None:
    result = Result(report_of(), tmp_path)
    report.write_markdown(result)

    written = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert written == report.markdown([result])
    assert [path.name for path in tmp_path.iterdir()] == ["report.md"]


def test_a_result_without_a_run_is_written_nowhere(tmp_path: Path) -> None:
    report.write_markdown(Result(report_of()))

    assert list(tmp_path.iterdir()) == []


# -- as wide as needed


def wide(**changes: Any) -> Report:
    """Four scorings with a value of 14 letters for each of two categories."""
    labels = {"commonsense reasoning": 107.5, "art": 87.25}
    metrics = {
        "score": metric(1213.25, unit="MME points"),
        **{
            f"score/{label}": metric(value, n=400, unit="MME points", ci95=(72.5, 145.0))
            for label, value in labels.items()
        },
    }
    own = ScoringReport(version=1, source="ours", metrics=metrics, readings={"answered": 200})
    names = ("official", "vlmevalkit", "lmms-eval", "robust")
    return report_of(
        scorings=dict.fromkeys(names, own),
        breakdown={"task": [*labels]},
        disagreements=[],
        **changes,
    )


ROW = re.compile(r"^ ?commonsense reasoning +107.50 MME points +\[72.50, 145.00\] (.*)$", re.M)


def in_a_terminal(document: Report, width: int) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=True, color_system=None)
    report.show(Result(document), console)
    return out.getvalue()


def test_where_there_is_no_terminal_a_table_is_as_wide_as_its_numbers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    report.print_result(Result(wide()))

    row = ROW.search(capsys.readouterr().out)
    assert row is not None
    assert row[1].split() == ["107.50", "MME", "points"] * 3 + ["400"]


def test_a_terminal_that_is_too_narrow_shows_the_headline_and_says_what_is_left_out() -> None:
    text = in_a_terminal(wide(), 84)

    row = ROW.search(text)
    assert row is not None
    assert row[1].split() == ["400"]
    assert " 3 other scorings are left out, because the terminal is too narrow. --json" in text
    assert "--format md" in text


def test_a_terminal_that_is_wide_enough_leaves_nothing_out() -> None:
    text = in_a_terminal(wide(), 140)

    assert "left out" not in text
    row = ROW.search(text)
    assert row is not None
    assert row[1].split() == ["107.50", "MME", "points"] * 3 + ["400"]


def test_numbers_stay_whole_on_a_terminal_that_has_no_room_for_them_either() -> None:
    text = in_a_terminal(wide(), 30)

    assert re.search(r"^commonsense +107.50 MME points +\[72.50, 145.00\] +400 *$", text, re.M)


def test_remarks_that_have_no_room_beside_the_rows_stand_below_them() -> None:
    text = in_a_terminal(report_of(), 84)

    assert f"\n official accuracy: 60.00 % {WERE_WRONG}, 62.50 % if right\n" in text


def test_a_remark_in_the_singular_and_in_the_plural_is_one() -> None:
    reasons = {"a": 1, "b": 2, "c": 3}
    metrics = {
        "accuracy": metric(0.5),
        **{
            f"accuracy/{label}": metric(
                0.5,
                reason=f"{n} independent {'cluster' if n == 1 else 'clusters'}: too few of them",
            )
            for label, n in reasons.items()
        },
    }
    own = ScoringReport(version=1, source="ours", metrics=metrics, readings={"answered": 200})
    document = report_of(scorings={"own": own}, breakdown={"tag": [*reasons]}, disagreements=[])
    text = report.as_text([Result(document)])

    assert text.count("too few of them") == 1
    assert " too few independent clusters: too few of them" in text


def by_language(model: str = "openai/m") -> Result:
    """A scoring whose first metric is about English questions alone."""
    metrics = {
        "english": metric(0.25, n=4),
        "chinese": metric(0.5, n=2),
        "score": metric(0.4, n=9),
        "english/en": metric(0.25, n=4),
        "score/en": metric(0.25, n=4),
        "chinese/cn": metric(0.5, n=2),
        "score/cn": metric(0.5, n=2),
        "score/mixed": metric(0.6, n=3),
    }
    own = ScoringReport(version=1, source="ours", metrics=metrics, readings={"answered": 9})
    breakdown = {"language": ["cn", "en", "mixed"]}
    return Result(
        report_of(model=model, scorings={"official": own}, breakdown=breakdown, disagreements=[])
    )


def test_a_breakdown_has_the_categories_that_the_first_metric_does_not_count() -> None:
    table = """\
| language | official english | 95 % interval | n | remark |
| --- | --- | --- | --- | --- |
| cn (chinese) | 50.00 % |  | 2 |  |
| en | 25.00 % |  | 4 |  |
| mixed (score) | 60.00 % |  | 3 |  |
"""
    assert table in report.markdown([by_language()])
    both = [by_language(), by_language("hf/other")]
    for text in (report.html(both), report.latex(both)):
        assert all(label in text for label in ("cn (chinese)", "mixed (score)"))
    rows = companions(both, ["language"])
    assert [row[2:4] for row in rows[:3]] == [
        ("chinese, language=cn", "50.00 %"),
        ("english, language=en", "25.00 %"),
        ("score, language=mixed", "60.00 %"),
    ]


def test_one_reply_is_told_of_as_one() -> None:
    disagreement = Disagreement(
        scorings=("official", "robust"), n=1, by_rule={"a | b": 1}, examples=["7"]
    )

    text = report.as_text([Result(report_of(disagreements=[disagreement]))])
    assert "official and robust score 1 reply differently by accuracy, that to sample 7\n" in text


def test_a_tag_that_nothing_is_broken_down_by_is_said_to_be_none() -> None:
    with pytest.raises(KeyError, match=r"not broken down by tag 'topic'\. Tags: subject\."):
        Result(report_of()).by("topic")
    with pytest.raises(KeyError, match=r"by tag 'topic'\. The report has no tags\."):
        Result(report_of(breakdown={})).by("topic")


def test_a_scoring_with_a_long_name_is_apart_from_what_it_finds() -> None:
    read = Explained(
        scoring="vlmevalkit-2024",
        source="theirs",
        state="answered",
        answer="A",
        rule="letter",
        score=0.0,
    )
    explanation = Explanation(
        benchmark="mine",
        sample="7",
        repeat=0,
        question="Which?",
        choices=[],
        target="B",
        references=[],
        tags={},
        messages=[],
        attempts=[],
        readings=[read],
    )

    lines = report.story(explanation).splitlines()
    assert lines[1] == "  question    Which?"
    assert "  vlmevalkit-2024 score 0: answered, answer 'A', by the rule 'letter'" in lines


# -- blind baselines


def test_chance_that_was_drawn_is_said_to_be_about_so_much() -> None:
    drawn = Baselines(chance=0.2431, constant=0.5, answer="B", draws=3)
    text = report.as_text([Result(report_of(baselines=drawn))])

    assert "blind baselines: about 24.31 % by chance (3 draws), 50.00 % always saying 'B'" in text


def test_chance_that_has_a_formula_is_said_as_it_is() -> None:
    known = Baselines(chance=0.25, constant=0.5, answer="B")
    text = report.as_text([Result(report_of(baselines=known))])

    assert "blind baselines: 25.00 % by chance, 50.00 % always saying 'B'" in text


def test_a_long_answer_of_the_blind_baseline_is_shortened() -> None:
    known = Baselines(chance=None, constant=0.5, answer=f"It {'x' * 20_000} is")
    text = report.as_text([Result(report_of(baselines=known))])

    (line,) = [line for line in text.splitlines() if "blind baselines" in line]
    assert line.strip().startswith("blind baselines: 50.00 % always saying 'It xxx")
    assert line.endswith("x is'") and len(line) < 120


def test_a_stored_report_that_does_not_know_of_draws_is_read() -> None:
    stored = b'{"chance": 0.25, "constant": null, "answer": null}'

    assert msgspec.json.decode(stored, type=Baselines).draws is None


# -- bundled rows


def test_bundled_rows_are_no_result_in_any_table_of_several() -> None:
    two = [
        Result(report_of(notes=[BUNDLED], incomplete=False)),
        Result(report_of(incomplete=False)),
    ]

    assert re.search(rf"^ mine .* 10 .* {BUNDLED} *$", report.as_text(two), re.MULTILINE)
    assert f"| 1.25 s |  | {BUNDLED} |" in report.markdown(two)
    rows = list(csv.DictReader(io.StringIO(report.csv(two))))
    assert [row["remark"] for row in rows] == [BUNDLED] * 6 + [""] * 6


def asking(
    benchmark: str, value: float, n: int, *, run: str = "", digest: str = "", **more: Any
) -> Result:
    """A result of a benchmark whose samples all ask to read text; options are in `more`."""
    notes, revision = more.pop("notes", []), more.pop("revision", None)
    document = report_of(
        benchmark=benchmark,
        n=n,
        replies={"ok": n},
        incomplete=False,
        notes=notes,
        identity={
            "options": more,
            "model_revision": revision,
            **({"data": {"digest": digest}} if digest else {}),
        },
        capabilities={"OCR/text": CapabilityReport(n=n, mean=metric(value, n=n, stderr=0.01))},
    )
    return Result(document, Path("runs") / run if run else None)


def capabilities(*results: Result) -> list[list[str]]:
    """The table's rows in Markdown, without the model's name."""
    section = report.markdown(results).partition("## By capability")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| openai/m")]
    return [[cell.strip("| ") for cell in row[1:]] for row in rows]


def test_above_the_capabilities_it_is_said_once_which_rows_are_bundled() -> None:
    few, full = asking("mine", 0.5, 100, notes=[BUNDLED]), asking("other", 0.7, 100)

    assert report.markdown([few, full]).count(f"\n\nmine: {BUNDLED}\n\n| model |") == 1
    assert f"\nnote: mine: {BUNDLED}\n" in report.as_text([few, full])
    assert f"\n\n{BUNDLED}\n\n| model |" in report.markdown(
        [few, asking("other", 0.7, 100, notes=[BUNDLED])]
    )


def test_other_data_of_a_benchmark_are_another_benchmark_named_with_its_options() -> None:
    two = [
        asking("mine", 0.5, 100, digest="aa", lang="en", split="dev"),
        asking("mine", 0.8, 200, digest="bb", lang="cn", split="dev"),
    ]

    (row,) = capabilities(*two)
    assert row[1] == "70.00 %"
    assert row[3:5] == ["300", "mine:lang=en, mine:lang=cn"]


def test_data_that_no_option_tells_apart_are_told_apart_by_their_digest() -> None:
    (row,) = capabilities(
        asking("mine", 0.5, 100, digest="0123456789ab"),
        asking("mine", 0.8, 200, digest="fedcba987654"),
    )

    assert row[3:5] == ["300", "mine (data 01234567), mine (data fedcba98)"]


def test_results_without_a_digest_are_told_apart_by_their_options() -> None:
    (row,) = capabilities(asking("mine", 0.5, 100, lang="en"), asking("mine", 0.8, 200, lang="cn"))

    assert row[3:5] == ["300", "mine:lang=en, mine:lang=cn"]


@pytest.mark.parametrize("order", [1, -1])
def test_the_same_data_twice_count_once_whatever_their_order(order: int) -> None:
    same = [
        asking("mine", 0.5, 100, run="0a1b", digest="aa", prompt="short"),
        asking("mine", 0.9, 40, run="2c3d", digest="aa", prompt="long"),
    ]

    (row,) = capabilities(*same[::order], asking("other", 0.8, 200, digest="bb"))
    assert row[1] == "70.00 %"
    assert row[3:] == ["300", "mine, other", "mine: of 2 runs on the same data, only 0a1b counts"]


def test_checkpoints_of_a_model_have_rows_of_their_own_by_capability() -> None:
    checkpoints = [
        asking(benchmark, value, 100, digest=benchmark, revision=f"step-{step}")
        for step, value in ((100, 0.25), (200, 0.75))
        for benchmark in ("mine", "other")
    ]

    text = report.markdown(checkpoints).partition("## By capability")[2].partition("\n## ")[0]
    assert "| openai/m (model\\_revision=step-100) | OCR/text | 25.00 % |" in text
    assert "| openai/m (model\\_revision=step-200) | OCR/text | 75.00 % |" in text
    assert "on the same data" not in text


# -- names and rules out of files and models

RED = "\x1b[31mred\x1b[0m"
HOSTILE = [
    pytest.param(RED, "\ufffd[31mred\ufffd[0m", id="a terminal's escape"),
    pytest.param("a\nb\tc\r\nd", "a b c  d", id="line ends and tabs"),
    pytest.param("\x00\x07\x9b5m\x7f", "\ufffd" * 2 + "\ufffd5m" + "\ufffd", id="controls"),
    pytest.param("abc\u202ecba\u2066x", "abc\ufffdcba\ufffdx", id="writing from the right"),
    pytest.param("half \ud800", "half \ufffd", id="half of a character"),
    pytest.param("[bold]x[/bold] [link=y]", "[bold]x[/bold] [link=y]", id="markup is letters"),
]


def everywhere(text: str) -> Result:
    """A result with the text as every name that a file or a model can choose."""
    report = report_of(
        benchmark=text,
        model=text,
        notes=[text],
        breakdown={text: ["art"]},
        disagreements=[
            Disagreement(scorings=("official", text), n=1, by_rule={text: 1}, examples=[text])
        ],
        identity={"options": {text: text}},
    )
    return Result(report)


@pytest.mark.parametrize(("text", "expected"), HOSTILE)
def test_the_terminal_acts_on_no_name(text: str, expected: str) -> None:
    written = report.as_text([everywhere(text)])

    assert written.count(expected) >= 8
    assert not set(written) & {"\x1b", "\x00", "\x07", "\x9b", "\u202e", "\u2066", "\ud800"}


@pytest.mark.parametrize("text", [RED, "a\nb", "half \ud800", "\x00"])
def test_files_can_be_written_whatever_the_names(text: str) -> None:
    for written in (report.markdown([everywhere(text)]), report.csv([everywhere(text)])):
        assert written.encode()
        assert not set(written) & {"\x1b", "\x00"}


def test_markdown_keeps_the_shape_of_its_tables_and_no_html() -> None:
    text = "a|b\n| --- |\n<script>x</script> [x](http://y) `c` *d* & \\| $e$"
    written = report.markdown([everywhere(text)])

    tables = [line for line in written.splitlines() if line.startswith("|")]
    bars = [line.replace("\\\\", "").replace("\\|", "").count("|") for line in tables]
    # The headline, the categories, the rules.
    assert bars == [7] * 5 + [8] * 3 + [3] * 3
    assert "<" not in written.replace("\\<", "")
    assert "[x]" not in written


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\r=1"])
def test_a_spreadsheet_takes_no_name_for_a_formula(text: str) -> None:
    row = next(csv.DictReader(io.StringIO(report.csv([Result(report_of(model=text))]))))

    assert row["model"].startswith("'")


def test_a_number_below_zero_stays_a_number() -> None:
    own = ScoringReport(
        version=1, source="ours", metrics={"gain": metric(-0.5, unit="points")}, readings={}
    )
    rows = csv.DictReader(io.StringIO(report.csv([Result(report_of(scorings={"own": own}))])))

    assert next(rows)["value"] == "-0.5"


def test_the_lower_bound_is_the_smaller_number_where_less_is_better_too() -> None:
    acuity = metric(6.0, unit="pixels", bounds=(9.5, 5.0))
    own = ScoringReport(version=1, source="ours", metrics={"acuity": acuity}, readings={})
    row = next(csv.DictReader(io.StringIO(report.csv([Result(report_of(scorings={"own": own}))]))))

    assert (row["bound_low"], row["bound_high"]) == ("5.0", "9.5")


def columns(rows: Sequence[str]) -> list[int]:
    return [len(row) for row in csv.reader(rows)]


def test_every_row_of_the_csv_has_every_column() -> None:
    text = report.csv([everywhere('a,b"c"\nd')])

    assert set(columns(text.splitlines())) == {25}


def test_the_result_prints_itself_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    report.print_result(Result(report_of(disagreements=[], breakdown={})))

    out, err = capsys.readouterr()
    assert "mine × openai/m" in out
    assert err == ""
    assert json.loads(Result(report_of()).json())["n"] == 205


def priced(model: str, value: float, cost: float, seconds: float, **changes: Any) -> Result:
    cost_report = CostReport(
        replies=10,
        questions=10,
        tokens={"input": 100, "output": 10},
        cost=cost,
        currency="USD",
        seconds=9,
        total=Seconds(mean=seconds, p50=seconds, p90=seconds),
    )
    scoring = ScoringReport(
        version=1,
        source="ours",
        metrics={"accuracy": msgspec.structs.replace(metric(value), better="higher")},
        readings={"answered": 200},
    )
    changes = {"incomplete": False, "question_digest": "these", **changes}
    return Result(
        report_of(
            model=model, headline="own", scorings={"own": scoring}, spent=cost_report, **changes
        )
    )


def test_models_that_no_other_beats_in_score_and_cost_are_listed() -> None:
    results = [
        priced("good", 0.9, cost=3.0, seconds=1.0),
        priced("cheap", 0.8, cost=1.0, seconds=2.0),
        priced("neither", 0.7, cost=2.0, seconds=3.0),
    ]
    text = report.as_text(results)

    front = "mine: models that no other model beats in accuracy and"
    assert f"{front} cost per question: good, cheap\n" in text
    assert f"{front} median request time: good\n" in text
    assert "left out" not in text


def test_a_run_without_some_replies_beats_no_other_model() -> None:
    results = [
        priced("whole", 0.75, cost=1.0, seconds=1.0),
        priced("failing", 0.79, cost=1.0, seconds=1.0, incomplete=True, question_digest="fewer"),
        priced("dear", 0.74, cost=2.0, seconds=2.0),
        priced("stale", 0.80, cost=1.0, seconds=1.0, question_digest=None),
    ]
    text = report.as_text(results)

    assert "models that no other model beats in accuracy and cost per question: whole\n" in text
    assert "models that no other model beats in accuracy and median request time: whole\n" in text
    assert "mine: left out, because replies are missing: failing. `snellen compare`" in text
    assert "mine: left out, because an earlier version scored them: stale. Score" in text


@pytest.mark.parametrize(
    "other",
    [
        {"question_digest": "those"},
        {"identity": {**report_of().identity, "probe": {"blind": "none"}}},
        {"judged_by": {"own": JudgedBy(judges=["openai/judge"])}},
    ],
)
def test_models_with_other_questions_or_judges_are_not_ranked_together(
    other: dict[str, Any],
) -> None:
    english = [priced("a", 0.9, cost=1.0, seconds=1.0), priced("b", 0.8, cost=2.0, seconds=2.0)]
    german = [
        priced("c", 0.5, cost=3.0, seconds=3.0, **other),
        priced("d", 0.4, cost=4.0, seconds=4.0, **other),
    ]
    text = report.as_text([*english, *german])

    same = "which have the same questions and scoring"
    beats = "models that no other model beats in accuracy and cost per question"
    assert f"mine (only a, b, {same}): {beats}: a\n" in text
    assert f"mine (only c, d, {same}): {beats}: c\n" in text


def test_the_table_of_several_runs_fits_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    results = [
        Result(report_of(benchmark=benchmark, model=model, incomplete=False, spent=None))
        for benchmark in ("eyechart", "eyechart-video")
        for model in ("baseline/reader", "baseline/first")
    ]
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    report.print_overview(results)

    text = re.sub("\x1b[^m]*m", "", capsys.readouterr().out)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("models by benchmarks") for line in lines)
