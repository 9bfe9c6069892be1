"""LaTeX tables: what stands in them, and that nothing in a name is a command."""

import re

import pytest
from msgspec.structs import replace

from snellen import report
from snellen.registry import BUNDLED
from snellen.scoring import RepeatsReport
from tests.test_report.results import HOSTILE, comparisons, metric, result


def rows(latex: str, label: str) -> list[list[str]]:
    """The cells of the table with a label, its headings first."""
    table = latex[latex.index(rf"\label{{tab:{label}}}") :].partition(r"\end{table}")[0]
    lines = [line for line in table.splitlines() if line.endswith(r" \\")]
    return [line.strip().removesuffix(r" \\").split(" & ") for line in lines]


def test_results_are_a_table_with_intervals() -> None:
    headings, first, _ = rows(report.latex([result(), result("hf/other")]), "results")

    assert headings[:6] == ["benchmark", "model", "n", "metric", "value", r"95\,\% interval"]
    assert first[:6] == ["mine", "openai/m", "200", "accuracy", r"50.00\,\%", "{[}25.00, 75.00]"]


@pytest.mark.parametrize("compared", [None, comparisons()])
def test_the_first_table_counts_what_failed_and_what_is_unparsed(compared: object) -> None:
    runs = [result(model, name) for name in ("mine", "more") for model in ("openai/m", "hf/other")]
    first = report.latex(runs, compared).partition(r"\end{table}")[0]  # type: ignore[arg-type]

    headings, *lines = rows(first + r"\end{table}", "results")
    assert headings[5:] == [r"95\,\% interval", "failed", "unparsed"]
    assert [line[5:] for line in lines] == [["{[}25.00, 75.00]", "3", "7"]] * 4


def test_a_remark_on_several_runs_is_in_the_caption_once() -> None:
    few = {"notes": [BUNDLED], "incomplete": False}
    runs = [result(model, name, **few) for name in ("x", "y") for model in ("a", "b")]
    runs += [result(model, "z", incomplete=model == "a") for model in ("a", "b")]
    shown = caption(report.latex(runs), "results")
    assert shown.count("bundled rows") == 1
    assert shown.endswith(f"x, y: {BUNDLED}. a on z: incomplete.")


def test_categories_have_a_column_for_each_model() -> None:
    text = report.latex([result(), result("hf/other")])

    assert rows(text, "mine-subject") == [
        ["subject", "n", "openai/m", "hf/other"],
        ["art", "100", r"40.00\,\%", r"40.00\,\%"],
        ["law", "100", r"60.00\,\%", r"60.00\,\%"],
    ]
    assert "mine: accuracy by subject. Differences are not tested here" in text
    assert "Differences are not tested here" not in report.latex([result()])


def test_models_that_a_category_counts_otherwise_have_an_n_each() -> None:
    other = result("hf/other")
    other.scoring().metrics["accuracy/art"] = metric(0.4, n=98)

    art = rows(report.latex([result(), other]), "mine-subject")[1]
    assert art == ["art", "100/98", r"40.00\,\%", r"40.00\,\%"]
    art = rows(report.latex([result(), result("third"), other]), "mine-subject")[1]
    assert art[1] == "100/100/98"


def caption(latex: str, label: str) -> str:
    """The caption of the table with a label."""
    before = latex.partition(rf"\label{{tab:{label}}}")[0]
    return before.rpartition(r"\caption{")[2].rpartition("}")[0]


def test_the_caption_says_that_n_counts_replies_if_questions_have_several() -> None:
    several = {"official": RepeatsReport(most=3, questions=70, metrics={})}
    runs = [result(model, name, repeats=several) for name in ("x", "y") for model in ("a", "b")]
    text = report.latex(runs)

    sentence = "Each question has up to 3 replies, and n counts replies."
    assert sentence in caption(text, "results")
    assert sentence in caption(text, "models")
    assert "n counts replies" not in report.latex([result("a"), result("b")])


def test_captions_of_several_runs_say_what_each_run_falls_short_of() -> None:
    runs = [
        result(),
        result("hf/other", incomplete=False, asked_of=900),
        result(benchmark="more", notes=[BUNDLED]),
        result("hf/other", "more", notes=[BUNDLED]),
    ]
    text = report.latex(runs)

    short = "openai/m: incomplete (3 failed, 0 not judged). hf/other: partial: 200 of 900."
    assert caption(text, "mine-subject").endswith(
        f"Use snellen compare to test differences. {short}"
    )
    shared = "Incomplete (3 failed, 0 not judged). The data are the few bundled rows"
    assert shared in caption(text, "more-subject")
    models = caption(text, "models")
    assert "mine: openai/m: incomplete (3 failed, 0 not judged)" in models
    assert "mine: hf/other: partial: 200 of 900" in models
    assert "more: the data are the few bundled rows" in models


def test_a_caption_does_not_change_the_name_of_a_model() -> None:
    document = comparisons(("openai/m (a)", "m (max=1)", "third"))
    sides = [replace(side, notes=["asked on a Sunday"]) for side in document.sides[:2]]
    text = report.compared_latex(replace(document, sides=[*sides, document.sides[2]]))

    assert "openai/m (a), m (max=1): asked on a Sunday." in caption(text, "mine")
    assert " M (max=1)" not in text and "Openai" not in text


def test_a_leaderboard_without_intervals_does_not_announce_them() -> None:
    document = comparisons()
    (board,) = document.leaderboards
    assert "with 95" in caption(report.compared_latex(document), "mine")

    few = [
        replace(standing, value=replace(standing.value, ci95=None)) for standing in board.standings
    ]
    text = report.compared_latex(
        replace(document, leaderboards=[replace(board, standings=few)], comparisons=[])
    )
    assert "95" not in caption(text, "mine")


def test_bold_is_what_shares_a_letter_with_the_best_and_nothing_else() -> None:
    document = comparisons()
    _, first, second, third = rows(report.compared_latex(document), "mine")

    assert first == ["one", r"\textbf{60.00\,\%}", "{[}55.00, 65.00]", "a", "200"]
    assert second[1] == r"\textbf{55.00\,\%}"
    assert third[1] == r"40.00\,\%"
    assert r"\textbf" not in report.latex([result()])


def test_differences_have_their_p_and_a_minus() -> None:
    headings, first = rows(report.compared_latex(comparisons()), "difference-1")

    assert headings[:3] == ["metric", "a", "b"]  # the names are in the caption

    assert first[:5] == [
        *("accuracy", r"60.00\,\%", r"55.00\,\%"),
        *(r"$-$5.00 pp", "{[}$-$10.00, +0.00]"),
    ]
    assert first[5] == "0.0500"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("50 % of $a_b$ & #1", r"50\,\% of \$a\_b\$ \& \#1"),
        (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("a~b^c", r"a\textasciitilde{}b\textasciicircum{}c"),
        ("<m>|[x]", r"\textless{}m\textgreater{}\textbar{}{[}x]"),
        ("*m--n", "{*}m-{}-n"),
        ("gpt-4\n% a comment", r"gpt-4\,\% a comment"),
        ("a\u202eb\x1b", "a?b?"),
    ],
)
def test_what_tex_acts_on_is_printed(name: str, expected: str) -> None:
    table = rows(report.latex([result(name)]), "results")

    assert table[1][1] == expected


def test_hostile_names_leave_braces_in_pairs() -> None:
    latex = report.latex([result(HOSTILE, "}{" + HOSTILE), result("\\")], comparisons())

    bare = re.sub(r"\\[{}]", "", latex)
    assert bare.count("{") == bare.count("}")
    assert latex.count(r"\begin{table}") == latex.count(r"\end{table}") > 2
