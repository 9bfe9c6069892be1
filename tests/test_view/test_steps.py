"""A question with tools in the viewer: each step's calls, and the part that a call showed on its
parent picture."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import snellen
from snellen.store import Key, ReplyRecord, Run
from snellen.view.index import FILE, Index
from snellen.view.pages import Pages
from snellen.view.query import Chosen, Wanted
from snellen.view.samples import facets, key_of, states
from tests.viewers import SCORING, question, reply, run_in, score


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    result = snellen.evaluate(
        "eyechart:tasks=far,n=3",
        "baseline/zoomer",
        tools=["zoom"],
        image_size=336,
        out=tmp_path_factory.mktemp("runs"),
    )
    assert result.run is not None
    return result.run


def page(run: Path, step: int) -> str:
    out = run.parents[2]
    html = Pages(out).sample(str(run.relative_to(out)), Key("far-0", 0, 0, step), Wanted())
    return re.sub(r"\s+", " ", html)


def test_a_step_shows_the_call_that_its_reply_makes(run: Path) -> None:
    first = page(run, 0)
    assert "<bdi>zoom</bdi>" in first and "Empty reply" not in first
    assert first.count('class="faint">calls') == 1
    assert 'data-layer="1"' not in first  # nothing was shown yet


def test_the_next_step_draws_the_part_on_the_picture_it_comes_from(run: Path) -> None:
    (crop,) = (
        medium.excerpt
        for question in Run(run).questions()
        if question.key == Key("far-0", 0, 0, 1)
        for medium in question.media
        if medium.excerpt is not None
    )
    left, top, right, bottom = crop.box
    html = page(run, 1)
    path = f"M{left} {top}H{right}V{bottom}H{left}Z"
    # Once as the halo and once as the line, over the first picture with its own pixels.
    assert html.count(path) == 2
    svg = html[html.index('<svg class="marks"') :]
    assert svg.index('viewBox="0 0 1344 1344"') < svg.index(path) < svg.index("</svg>")
    assert "<strong><bdi>picture 2</bdi></strong>" in html
    assert html.count('class="faint">calls') == 1  # in the messages of the prompt
    assert "<img" in svg  # the picture of the result follows


def test_the_box_of_the_call_is_in_the_part_that_is_drawn(run: Path) -> None:
    (call,) = (
        record.tool_calls[0]
        for record in Run(run).replies()
        if isinstance(record, ReplyRecord)
        and record.key == Key("far-0", 0, 0, 0)
        and record.tool_calls
    )
    box = json.loads(call.arguments)["box"]
    (crop,) = (
        medium.excerpt
        for question in Run(run).questions()
        if question.key == Key("far-0", 0, 0, 1)
        for medium in question.media
        if medium.excerpt is not None
    )
    assert crop.box == pytest.approx([edge * 1344 / 1000 for edge in box], abs=1)


def test_a_question_is_one_row_with_its_last_step_and_one_count(run: Path) -> None:
    out = run.parents[2]
    pages = Pages(out)
    name = str(run.relative_to(out))
    every = re.sub(r"\s+", " ", pages.samples(name, Wanted()))
    assert every.count("<tr data-row>") == 3
    assert every.count("2 steps") == 3  # `baseline/zoomer` zooms once if letters are small
    assert "3 ok" in re.sub("<[^>]+>", "", pages.run_page(name))


@pytest.fixture
def stepped(tmp_path: Path) -> Pages:
    """Two runs of one question: with three steps, and with one step and another reply."""
    for model, steps in (("with", 3), ("without", 1)):
        texts = ["", "", "the last reply"] if steps == 3 else ["the only reply"]
        run_in(
            tmp_path / model / "run",
            [question("a", step=step, tags={"kind": "x"}) for step in range(steps)]
            + [question("b", 1, tags={"kind": "y"})],
            [reply("a", text, step=step) for step, text in enumerate(texts)] + [reply("b", "b")],
            [score("a", 0.0, answer=model, step=steps - 1), score("b", 1.0, answer="b")],
        ).close()
    return Pages(tmp_path)


def test_counts_of_filters_are_counts_of_questions(stepped: Pages) -> None:
    index = stepped.indexes.of(stepped.run("with/run").path)
    index.catch_up()
    with index.connect() as connection:
        counts = {facet.name: dict(facet.choices) for facet in facets(connection, SCORING, 1)}
        assert counts["state"] == states(connection) == {"ok": 2}
        assert counts["tag.kind"] == {"x": 1, "y": 1}
        assert counts["score"] == {"right": 1, "partly": 0, "wrong": 1, "none": 0}
        for wanted in (Wanted(tags={"kind": "x"}), Wanted(score="wrong"), Wanted(q="a")):
            with index.connect() as another:
                chosen = Chosen(another, wanted, SCORING, 1)
                (row,) = chosen.page()
                assert chosen.count() == 1
                assert key_of(another, row) == Key("a", 0, 0, 2)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (2, 1, 0)])
def test_the_last_step_stands_for_the_question_in_any_order_of_records(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    run = run_in(tmp_path / "run")
    index = Index(run.path, run.path / FILE)
    for step in order:
        run.append_reply(reply("a", f"reply {step}", step=step))
        index.catch_up()
    with index.connect() as connection:
        assert states(connection) == {"ok": 1}
        (row,) = Chosen(connection, Wanted(), SCORING, 1).page()
        assert key_of(connection, row) == Key("a", 0, 0, 2)


def test_a_row_links_to_the_scored_step_which_is_among_the_matches(stepped: Pages) -> None:
    wanted = Wanted(score="wrong")
    html = stepped.samples("with/run", wanted)
    assert 'href="/sample/with/run?s=a&step=2&' in html.replace("&amp;", "&")
    for step in range(3):
        html = stepped.sample("with/run", Key("a", 0, 0, step), wanted)
        assert "1 of 1" in html
    assert "No scoring has parsed it" not in html and "the last reply" in html


def test_previous_and_next_go_from_question_to_question(stepped: Pages) -> None:
    for step in range(3):
        html = stepped.sample("with/run", Key("a", 0, 0, step), Wanted())
        assert re.search(r'rel="next" href="/sample/with/run\?s=b"', html)
        assert 'rel="prev"' not in html
    html = stepped.sample("with/run", Key("b", 0, 0, 0), Wanted())
    assert re.search(r'rel="prev" href="/sample/with/run\?s=a&(amp;)?step=2"', html)


@pytest.mark.parametrize("names", [("with/run", "without/run"), ("without/run", "with/run")])
def test_side_by_side_shows_the_last_reply_and_its_score(
    stepped: Pages, names: tuple[str, str]
) -> None:
    html = stepped.side_by_side(names, None, Wanted())
    assert html.count("<tr data-row>") == 2
    assert "the last reply" in html and "the only reply" in html
    for step in range(3):
        html = re.sub("<[^>]+>", "", stepped.side_by_side(names, Key("a", 0, 0, step), Wanted()))
        assert "the last reply" in html and "the only reply" in html
        assert "1 of 2" in html
        assert "did not ask this question" not in html and "No reply yet" not in html


def test_steps_are_labeled_with_their_turn_only_if_there_are_several_turns(tmp_path: Path) -> None:
    replies = [reply("a", step=0), reply("a", "x", step=1), reply("b"), reply("b", "y", turn=1)]
    replies += [reply("c"), reply("c", "z", turn=1), reply("c", "z", turn=1, step=1)]
    run_in(tmp_path / "run", [], replies).close()
    pages = Pages(tmp_path)

    def labels(key: Key) -> list[str]:
        html = pages.sample("run", key, Wanted())
        return re.findall(r"<a href=[^>]*>((?:turn|step) [^<]*)</a>", html)

    assert labels(Key("a", 0, 0, 0)) == labels(Key("a", 0, 0, 1)) == ["step 1", "step 2"]
    assert labels(Key("b", 0, 0, 0)) == ["turn 1", "turn 2"]
    assert labels(Key("c", 0, 1, 1)) == ["turn 1", "turn 2, step 1", "turn 2, step 2"]


def test_the_last_step_says_how_the_question_ended_and_earlier_steps_are_not_scored(
    run: Path,
) -> None:
    ended = "The question ended with this reply, which calls no tool."
    not_scored = "A further step follows. Only the last reply of a question is scored."
    assert ended in page(run, 1) and not_scored not in page(run, 1)
    assert ended not in page(run, 0) and not_scored in page(run, 0)


def test_a_question_that_ran_out_of_steps_says_so(tmp_path: Path) -> None:
    run_in(tmp_path / "run", [], [reply("a", "x", ended="steps")]).close()
    html = Pages(tmp_path).sample("run", Key("a", 0, 0), Wanted())
    assert "ended with this reply: the model used up the steps (--max-steps)." in html
