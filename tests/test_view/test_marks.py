"""What is drawn over pictures: where the answer and the right answer are, and how they agree."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from snellen import api, registry
from snellen.core.answer import (
    Answer,
    BoxAnswer,
    IntervalAnswer,
    NamedAnswers,
    PointAnswer,
    PolygonAnswer,
    SeveralAnswers,
    TableAnswer,
)
from snellen.core.benchmark import Benchmark
from snellen.store import Key, ShownMedia
from snellen.view.marks import (
    SHAPES,
    MarkLayer,
    ParsedAnswer,
    agreement,
    layers,
    right_answer,
    shapes_of,
)
from snellen.view.pages import Pages
from snellen.view.query import Wanted
from tests.viewers import question, reply, run_in, score

BOX = BoxAnswer(left=10, top=20, right=30, bottom=40)
PICTURE = ShownMedia(kind="image", place="a.png", digest="sha256:aa", width=100, height=50)
OTHER = ShownMedia(kind="image", place="b.png", digest="sha256:bb", width=100, height=50)
FILM = ShownMedia(kind="video", place="a.mp4", digest="sha256:cc", start=0.0, end=10.0)
HOSTILE = "</td><script>window.caught = 'cell'</script><img src=x onerror=\"window.caught='x'\">"


def drawn(*answers: Answer | None, right: Answer | None = None, **of: Any) -> list[MarkLayer]:
    parsed = [ParsedAnswer(f"s{number}", answer) for number, answer in enumerate(answers)]
    return layers(question("q", **{"media": [PICTURE], **of}), right, parsed)


@pytest.mark.parametrize(
    ("answer", "path"),
    [
        (BOX, "M10 20H30V40H10Z"),
        (BoxAnswer(left=30, top=40, right=10.5, bottom=20), "M30 40H10.5V20H30Z"),
        (PointAnswer(x=1.25, y=2), "M1.25 2h0"),
        (PolygonAnswer(points=((0, 0), (4, 0), (4, 4))), "M0 0L4 0L4 4Z"),
        (PointAnswer(x=-1e300, y=2), "M-1e+300 2h0"),
    ],
)
def test_a_shape_is_a_path_in_the_picture_s_own_pixels(answer: Answer, path: str) -> None:
    (layer,) = drawn(answer)
    assert layer.paths(0) == [path]
    assert layer.paths(1) == []


def test_the_right_answer_comes_first_and_equal_answers_share_a_layer() -> None:
    other = PointAnswer(x=1, y=2)
    shown = drawn(BOX, "no shape", None, other, BOX, right=BOX)
    assert [(layer.number, layer.title) for layer in shown] == [
        (1, "right"),
        (2, "s0, s4"),
        (3, "s3"),
    ]
    assert len({layer.kind for layer in shown}) == 3


def test_what_has_no_shape_is_not_drawn() -> None:
    assert drawn("A", 3.0, ("a", "b"), TableAnswer(rows=()), PolygonAnswer(points=())) == []


# By hand: 20 x 20 boxes that share a quarter, a third, and nothing.
@pytest.mark.parametrize(
    ("answer", "right", "words"),
    [
        (BOX, BOX, "IoU 1.00"),
        (BoxAnswer(left=20, top=30, right=40, bottom=50), BOX, "IoU 0.14"),  # 100 of 700
        (BoxAnswer(left=20, top=20, right=40, bottom=40), BOX, "IoU 0.33"),
        (BoxAnswer(left=50, top=20, right=60, bottom=40), BOX, "IoU 0.00"),
        (BoxAnswer(left=1, top=1, right=1, bottom=1), BoxAnswer(left=1, top=1, right=1, bottom=1),
         "IoU 0.00"),
        (SeveralAnswers(answers=(BOX,)), BOX, "IoU 1.00"),
        (SeveralAnswers(answers=(BOX, BOX)), BOX, ""),
        (BoxAnswer(left=10, top=20, right=30, bottom=40, medium=1), BOX,
         "in another picture or video"),
        (PointAnswer(x=10, y=40), BOX, "inside"),
        (PointAnswer(x=9.9, y=40), BOX, "outside"),
        (PointAnswer(x=3, y=4), PointAnswer(x=0, y=0), "5.0 pixels away"),
        (PointAnswer(x=3, y=1), PolygonAnswer(points=((0, 0), (4, 0), (4, 4))), "inside"),
        (PointAnswer(x=1, y=3), PolygonAnswer(points=((0, 0), (4, 0), (4, 4))), "outside"),
        (IntervalAnswer(start=0, end=4), IntervalAnswer(start=2, end=6), "IoU 0.33"),
        (BOX, None, ""),
        (BOX, PointAnswer(x=1, y=1), ""),
    ],
)  # fmt: skip
def test_an_agreement_is_stated_where_there_is_a_rule(
    answer: Answer, right: Answer | None, words: str
) -> None:
    assert agreement(answer, right) == words


def test_a_picture_of_the_sample_is_drawn_upon_where_the_page_has_it() -> None:
    few_shot: Any = {"media": [OTHER, PICTURE], "sample_media": [PICTURE]}
    (layer,) = drawn(BOX, **few_shot)
    assert layer.paths(0) == [] and len(layer.paths(1)) == 1
    # The benchmark's prompt shows a picture that the sample itself does not have.
    (layer,) = drawn(BOX, media=[PICTURE], sample_media=[])
    assert len(layer.paths(0)) == 1
    # The prompt leaves out the sample's picture.
    assert drawn(BOX, media=[OTHER], sample_media=[PICTURE]) == []


def test_a_shape_that_lies_outside_is_mentioned() -> None:
    (layer,) = drawn(BoxAnswer(left=100.5, top=0, right=300, bottom=10))
    assert layer.is_outside(0, (100, 50))
    assert not layer.is_outside(0, (101, 50))
    assert not layer.is_outside(0, None)


def test_of_many_shapes_a_part_is_drawn() -> None:
    many = SeveralAnswers(answers=tuple(PointAnswer(x=n, y=n) for n in range(10_000)))
    assert len(shapes_of(many)) == SHAPES
    deep: Answer = BOX
    for _ in range(50):
        deep = SeveralAnswers(answers=(deep,))
    assert shapes_of(deep) == []


# Each benchmark with places as answers: its bundled rows, and the kind of its right answers.
KINDS: dict[str, set[type]] = {
    "charades-sta": {IntervalAnswer},
    "eyechart:tasks=point+box+table,n=6": {PointAnswer, BoxAnswer, TableAnswer},
    "osworld-g": {BoxAnswer, PolygonAnswer, type(None)},
    "ref-l4": {BoxAnswer},
    "refcoco": {BoxAnswer},
    "screenspot": {BoxAnswer},
    "screenspot-pro": {BoxAnswer},
}


@pytest.mark.parametrize("spec", KINDS)
def test_a_benchmark_states_its_right_answers_as_objects(spec: str) -> None:
    data = None if spec.startswith("eyechart") else Path("synthetic")
    benchmark = registry.benchmark(spec, data=data)
    target = benchmark.presentation.target_answer
    assert target is not None
    samples = [benchmark.read(row) for row in benchmark.data]
    assert {type(target(sample)) for sample in samples} == KINDS[spec]


def page_of(folder: Path, name: str, sample: str) -> str:
    pages = Pages(folder)
    pages.indexes.of(folder / name).catch_up()
    return pages.sample(name, Key(sample, 0), Wanted())


def test_the_page_of_a_sample_has_both_layers_and_their_iou(tmp_path: Path) -> None:
    eyechart = registry.benchmark("eyechart:tasks=box")
    plan = api.Plan(benchmarks=[eyechart], models=["baseline/reader"], out=tmp_path, limit=2)
    run = api.run_plan(plan)[0].run
    html = page_of(tmp_path, f"{run.relative_to(tmp_path)}", "box-0")
    assert '<svg class="marks" viewBox="0 0 336 336"' in html
    # As in the row: the letter's square, in pixels. The reader's box has whole pixels.
    assert html.count('d="M80.4375 201.3125H110.4375V231.3125H80.4375Z"') == 2
    assert re.search(r'd="M80 201H11[01]V23[12]H80Z"', html)
    assert re.search(r"<strong><bdi>official</bdi></strong>: .*IoU 0\.9\d", html)


def test_without_the_benchmark_the_answer_alone_is_drawn(tmp_path: Path) -> None:
    run_in(
        tmp_path / "mine" / "m" / "1",
        [question("q", media=[PICTURE], messages=[("user", [0, "Where?"])], target="[1, 2]")],
        [reply("q", "[1, 2]")],
        [score("q", 1.0, answer=BOX)],
    ).close()
    html = page_of(tmp_path, "mine/m/1", "q")
    assert html.count("data-layer") == 3  # a halo, a line, and a box to check
    assert "<bdi>right</bdi>" not in html


def test_the_code_of_an_own_benchmark_is_not_run_for_its_targets(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("raise SystemExit('it ran')")
    source = {"kind": "file", "spec": f"{file}:mine"}
    sent = question("q", media=[PICTURE])
    manifest = {"benchmark": "mine", "identity": {"options": {}}, "benchmark_source": source}
    assert right_answer(manifest, sent) is None


def test_a_benchmark_that_raises_at_a_row_leaves_the_page(tmp_path: Path) -> None:
    eyechart = registry.benchmark("eyechart:tasks=box")
    broken = question("q", media=[PICTURE], target="not a box", tags={"task": "box"})
    assert right_answer({"benchmark": "eyechart"}, broken, [eyechart]) is None


ANSWERS: dict[str, tuple[Answer, list[str]]] = {
    "table": (
        TableAnswer(rows=(("a", HOSTILE), ("c", "d")), header=("x", "y")),
        ["<th dir=auto>x</th>", "<td dir=auto>d</td>"],
    ),
    "wide": (
        TableAnswer(rows=(tuple(map(str, range(150))), *[("a",)] * 149)),
        ["<td dir=auto>99</td><td dir=auto>…</td></tr>", "50 more"],
    ),
    "named": (
        NamedAnswers(answers={HOSTILE: BOX, "page": "3"}),
        ["<dd><code><bdi>3</bdi></code></dd>", "box (10, 20) to (30, 40)"],
    ),
    "several": (SeveralAnswers(answers=(BOX, HOSTILE)), ["<li><code><bdi>box (10, 20)"]),
    "long": ("y" * 5_000 + HOSTILE, ["5,", "characters)</summary>", "y" * 5_000]),
    "interval": (IntervalAnswer(start=2.5, end=7.5), ["M250 7H750", "2.5 s to 7.5 s"]),
    "polygon": (PolygonAnswer(points=((1, 2), (3, 4), (5, 6))), ["M1 2L3 4L5 6Z"]),
    "huge": (
        BoxAnswer(left=-1e308, top=0, right=1e308, bottom=1e-9),
        ["M-1e+308 0H1e+308V1e-09"],
    ),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_every_kind_of_answer_is_laid_out_and_escaped(tmp_path: Path, kind: str) -> None:
    answer, texts = ANSWERS[kind]
    medium = FILM if kind == "interval" else PICTURE
    run_in(
        tmp_path / "mine" / "m" / "1",
        [question("q", media=[medium], messages=[("user", [0, "Where?"])])],
        [reply("q", "there")],
        [score("q", 1.0, answer=answer, scoring=HOSTILE)],
    ).close()
    html = page_of(tmp_path, "mine/m/1", "q")
    for text in texts:
        assert text in html
    assert "<script>window" not in html and "<img src=x" not in html


def test_side_by_side_the_boxes_of_both_models_are_on_one_picture(tmp_path: Path) -> None:
    names = []
    for model, right in (("near", 31.0), ("far", 90.0)):
        run_in(
            tmp_path / "mine" / model / "1",
            [question("q", media=[PICTURE], messages=[("user", [0, "Where?"])])],
            [reply("q", "there")],
            [score("q", 1.0, answer=BoxAnswer(left=10, top=20, right=right, bottom=40))],
        ).close()
        names.append(f"mine/{model}/1")
    pages = Pages(tmp_path)
    for name in names:
        pages.indexes.of(tmp_path / name).catch_up()
    html = pages.side_by_side(names, Key("q", 0), Wanted())
    assert html.count("<img ") == 1
    assert "M10 20H31V40H10Z" in html and "M10 20H90V40H10Z" in html
    assert "<bdi>near</bdi></strong>" in html and "<bdi>far</bdi></strong>" in html


def test_a_supplied_benchmark_states_the_right_answers_of_its_runs() -> None:
    chart: Benchmark = registry.benchmark("eyechart:tasks=point")
    row = next(iter(chart.data))
    sample = chart.read(row)
    sent = question("q", target=sample.target, tags=dict(sample.tags), data=dict(sample.data))
    answer = right_answer({"benchmark": "eyechart"}, sent, [chart])
    assert isinstance(answer, PointAnswer)
    assert sample.target == f"[{answer.x:.10g}, {answer.y:.10g}]"
