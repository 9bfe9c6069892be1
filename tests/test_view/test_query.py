"""Which samples a filter chooses, and in what order, by hand."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from snellen.core.model import ReplyState
from snellen.store import Run
from snellen.view import pages as _pages
from snellen.view.index import FILE, Index
from snellen.view.pages import Pages
from snellen.view.query import Chosen, Wanted
from snellen.view.samples import key_of
from tests.viewers import question, reply, run_in, score

SAMPLES = [
    # name, category, state, reply, official, robust
    ("a", "cats", "ok", "the answer is B", 1.0, 1.0),
    ("b", "cats", "ok", "I do not know", 0.0, 0.0),
    ("c", "dogs", "truncated", "it could be", 0.0, 1.0),
    ("d", "dogs", "failed", "timed out", None, None),
    ("e", "100%_sure", "ok", "B", 0.5, 0.5),
    ("f", "dogs", None, "", None, None),
]


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Index, Index]:
    """A run, and another in which a is wrong, b is right and e was not asked."""
    folder = tmp_path_factory.mktemp("runs")
    pair = []
    for number, changed in enumerate(({}, {"a": 0.0, "b": 1.0})):
        samples = [sample for sample in SAMPLES if not (number and sample[0] == "e")]
        run = run_in(
            folder / str(number),
            [
                question(name, len(samples) - rank, tags={"category": category})
                for rank, (name, category, *_) in enumerate(samples)
            ],
            [
                reply(name, text, state, attempt=1)  # type: ignore[arg-type]
                for name, _, state, text, *_ in samples
                if state
            ],
            [
                score(
                    name,
                    changed.get(name, value) if scoring == "official" else value,
                    scoring,
                    state="unparsed" if name == "b" else "answered",
                    rule="none" if name == "b" else "a letter",
                )
                for name, *_, official, robust in samples
                for scoring, value in (("official", official), ("robust", robust))
                if value is not None
            ],
        )
        pair.append(index_of(run))
    return pair[0], pair[1]


def index_of(run: Run) -> Index:
    index = Index(run.path, run.path / FILE)
    index.catch_up()
    return index


@pytest.mark.parametrize(
    ("address", "names"),
    [
        # The data set's order is the other way round.
        ("", "fedcba"),
        ("desc=1", "abcdef"),
        ("state=ok", "eba"),
        ("state=failed", "d"),
        ("state=waiting", "f"),
        ("tag.category=dogs", "fdc"),
        ("tag.category=dogs&state=truncated", "c"),
        ("tag.category=100%25_sure", "e"),
        ("reading=unparsed", "b"),
        ("rule=a+letter", "eca"),
        ("score=right", "a"),
        ("score=right&scoring=robust", "ca"),
        ("score=wrong", "cb"),
        ("score=partly", "e"),
        ("score=none", "fd"),
        ("differ=robust", "c"),
        ("q=answer", "a"),
        ("q=timed+out", "d"),
        ("q=B", "ecba"),
        ("q=what+is+c", "c"),
        ("q=%25", ""),
        ("q=_", ""),
        ("vs=x&flip=lost", "b"),
        ("vs=x&flip=won", "a"),
        ("vs=x&flip=any", "ba"),
        ("vs=x&flip=neither", "c"),
        ("vs=x&flip=both", ""),
        ("vs=x&flip=both&scoring=robust", "ca"),
        ("vs=x", "ba"),
        ("vs=x&flip=won&tag.category=dogs", ""),
        ("by=score", "cbeafd"),
        ("by=score&desc=1", "aecbfd"),
        ("by=length&desc=1", "abcedf"),
        ("state=ok&by=length", "eba"),
        # What an address says wrongly is as if it were not said.
        ("state=nonsense&by=row;drop&page=x&reading=1&flip=won", "fedcba"),
        ("page=1&tag.=x&tags=1", "fedcba"),
    ],
)
def test_a_filter_chooses_these_samples_in_this_order(
    indexes: tuple[Index, Index], address: str, names: str
) -> None:
    index, other = indexes
    wanted = Wanted.of(parse_qsl(address))
    with index.connect() as connection:
        other_file = other.file if wanted.vs else None
        chosen = Chosen(connection, wanted, wanted.scoring or "official", 1.0, other_file)
        rows = chosen.page()
        assert "".join(key_of(connection, row)[0] for row in rows) == names
        assert chosen.count() == len(names)
        around = [chosen.around(row) for row in rows]
    assert [before for before, _, _ in around] == [None, *rows][: len(rows)]
    assert [after for _, after, _ in around] == [*rows[1:], None][: len(rows)]
    assert [number for _, _, number in around] == [*range(1, len(rows) + 1)]


def test_a_filter_has_limits_and_is_answered(indexes: tuple[Index, Index]) -> None:
    tags = "&".join(f"tag.t{n}=x" for n in range(2_000))
    for address in (f"q={'w ' * 40_000}", f"q={'%' * 80_000}", "q=%00", "q=%22*AND(", tags):
        with indexes[0].connect() as connection:
            assert Chosen(connection, Wanted.of(parse_qsl(address)), "official", 1.0).page() == []


def test_runs_are_joined_by_sample_repeat_and_turn(tmp_path: Path) -> None:
    """Their rows come in another order, and one has a turn and a repeat less."""
    keys = [("a", 0, 0), ("a", 1, 0), ("a", 1, 1), ("b", 0, 0)]
    joined = []
    for name, order in (("one", keys), ("other", [*keys[::-1][:2], keys[0]])):
        run = run_in(
            tmp_path / name,
            [question(of, turn=turn, repeat=repeat) for of, repeat, turn in order],
            [reply(of, "A", turn=turn, repeat=repeat) for of, repeat, turn in order],
            [
                score(of, float(of == "a" if name == "one" else repeat), repeat=repeat)
                for of, repeat, turn in order
                if (of, repeat, turn) != ("a", 1, 0)
            ],
        )
        joined.append(index_of(run))
    with joined[0].connect() as connection:
        wanted = Wanted(vs="x", flip="won")
        chosen = Chosen(connection, wanted, "official", 1.0, joined[1].file)
        assert [key_of(connection, row) for row in chosen.page()] == [("a", 0, 0)]


def test_an_address_says_what_it_was_made_of() -> None:
    address = "q=a+b&state=ok&score=wrong&by=length&desc=1&page=3&tag.category=x%26y%3D%C3%A9"
    wanted = Wanted.of(parse_qsl(address))
    assert Wanted.of(parse_qsl(wanted.address(page=3))) == wanted
    assert Wanted.of(parse_qsl(wanted.address())).page == 1, "another choice begins at its start"
    assert "category" not in wanted.address(**{"tag.category": None})


def test_a_page_beyond_the_last_is_empty(indexes: tuple[Index, Index]) -> None:
    with indexes[0].connect() as connection:
        wanted = Wanted.of([("page", "9" * 30)])
        assert Chosen(connection, wanted, "official", 1.0).page() == []


def test_a_sample_that_was_not_chosen_has_no_number(indexes: tuple[Index, Index]) -> None:
    with indexes[0].connect() as connection:
        chosen = Chosen(connection, Wanted(state="ok"), "official", 1.0)
        row = connection.execute("SELECT row FROM samples WHERE sample = 'd'").fetchone()[0]
        assert chosen.around(row)[2] is None


def test_one_run_can_be_read_while_another_thread_adds_to_it(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", [question("a")], [reply("a", "A")])
    index = index_of(run)
    with index.connect() as connection:
        connection.execute("BEGIN")
        assert connection.execute("SELECT count(*) FROM samples").fetchone() == (1,)
        run.append_question(question("b", 1))
        index.catch_up()
        assert connection.execute("SELECT count(*) FROM samples").fetchone() == (1,)
    with index.connect() as connection:
        assert connection.execute("SELECT count(*) FROM samples").fetchone() == (2,)


def test_numbers_beside_filters_are_those_under_the_other_filters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples: list[tuple[str, float, ReplyState]] = [
        ("red", 0.0, "ok"),
        ("red", 1.0, "ok"),
        ("blue", 0.0, "empty"),
        ("blue", 0.5, "ok"),
        ("green", 1.0, "ok"),
    ]
    entries = [(f"s{n}", *sample) for n, sample in enumerate(samples)]
    run_in(
        tmp_path / "mine" / "model" / "0",
        [question(name, n, tags={"hue": hue}) for n, (name, hue, _, _) in enumerate(entries)],
        [reply(name, "" if how == "empty" else "A", how) for name, _, _, how in entries],
        [score(name, worth) for name, _, worth, _ in entries],
    ).close()
    pages = Pages(tmp_path)

    def numbers(address: str) -> dict[str, int]:
        page = pages.samples("mine/model/0", Wanted.of(parse_qsl(address)))
        matches = re.findall(r'<bdi>([\w ]+)</bdi> <span class="n">(\d+)</span>', page)
        return {name: int(n) for name, n in matches}

    def verdicts(address: str) -> dict[str, int]:
        page = pages.samples("mine/model/0", Wanted.of(parse_qsl(address)))
        words = "right|partly right|wrong|none"
        matches = re.findall(rf'({words}) <span class="n">(\d+)</span>', page)
        return {name: int(n) for name, n in matches}

    try:
        unfiltered = {
            "ok": 4,
            "empty": 1,
            "answered": 5,
            "a letter": 5,
            "red": 2,
            "blue": 2,
            "green": 1,
        }
        assert numbers("") == unfiltered
        wrong = {"ok": 1, "empty": 1, "answered": 2, "a letter": 2, "red": 1, "blue": 1, "green": 0}
        assert numbers("score=wrong") == wrong
        # Of what is chosen by hue there are the others to choose instead, also without a reply.
        blue = {"ok": 1, "empty": 1, "answered": 2, "a letter": 2, "red": 2, "green": 1}
        assert numbers("tag.hue=blue") == blue
        both = {"ok": 0, "empty": 1, "answered": 1, "a letter": 1, "red": 1, "green": 0}
        assert numbers("tag.hue=blue&score=wrong") == both
        assert "Counts under the other filters." in pages.samples(
            "mine/model/0", Wanted(score="wrong")
        )
        # The verdicts are counted too, and those of the list add up to its length.
        assert verdicts("") == {"right": 2, "partly right": 1, "wrong": 2, "none": 0}
        assert verdicts("tag.hue=blue") == {
            "right": 0,
            "partly right": 1,
            "wrong": 1,
            "none": 0,
        }
        assert verdicts("tag.hue=blue&score=wrong") == {
            "right": 0,
            "partly right": 1,
            "none": 0,
        }, "the chosen one has a cross in place of its number"
        monkeypatch.setattr(_pages, "FEW", 4)
        assert numbers("score=wrong") == unfiltered
        assert "for the full run of 5 samples" in pages.samples(
            "mine/model/0", Wanted(score="wrong")
        )
    finally:
        pages.stop()
