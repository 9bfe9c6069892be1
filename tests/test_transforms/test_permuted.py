"""Options in other places: what is right stays right, and a model that goes by places is found."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase

import pytest

import snellen
from snellen import registry
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply, Request
from snellen.core.sample import Sample
from snellen.errors import Rejected, UsageError
from snellen.scoring import LETTERED, ORDER, ProbeReport
from snellen.transforms.permuted import orders
from snellen.transforms.probes import probed
from tests.tiny import Says, run

POSITIONS = "eyechart:tasks=positions,n=24"
"""Four options a question: where a square is, which the reader sees every time."""
SPECS = (
    *(
        "eyechart",
        "mathvision",
        "mmmu",
        "mmmu-pro",
        "ovo-bench",
        "scienceqa",
        "scienceqa:prompt=qcm",
    ),
    *("seed-bench", "seed-bench:version=2", "video-mme", "vlmevalkit", "MMStar", "MUIRBench"),
    *("a-okvqa:setting=mc", "a-okvqa:setting=mc,prompt=gpt3"),
)


def bundled(spec: str) -> Benchmark:
    return registry.benchmark(spec, data=Path("synthetic"))


def mine(folder: Path, answers: Sequence[str], options: int = 4, **more: object) -> Path:
    """Rows whose questions say which option is right, so that a model of the test can know it."""
    names = ["north", "east", "south", "west", "up", "down"][:options]
    lines = [
        {"id": f"q{n}", "question": f"The answer is {names['ABCDEF'.index(right)]}. Which?"}
        | {"choices": names, "answer": right}
        | more
        for n, right in enumerate(answers)
    ]
    path = folder / "mine.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def right(request: Request) -> int:
    """The place of the option that the question says is right."""
    words = request.messages[0].text.split()
    return request.choices.index(words[words.index("is") + 1].rstrip("."))


def probe(path: Path, say: Callable[[Request], str], most: int, out: Path) -> ProbeReport:
    permuted = probed(registry.benchmark(str(path)), permute_options=most)
    result = run(out, Says(say), permuted).result
    assert result is not None and result.report.probe is not None
    return result.report.probe


def values(report: ProbeReport) -> dict[str, float | None]:
    return {name: metric.value for name, metric in report.metrics.items()}


# -- orders


def test_each_option_stands_in_each_place_equally_often_where_there_is_room() -> None:
    for options in (2, 3, 4, 7):
        for most in (options, options + 1, 3 * options):
            drawn = orders(options, most, "key")
            assert len(set(drawn)) == len(drawn) <= most
            for position in range(options):
                counts = Counter(order[position] for order in drawn)
                assert set(counts) == set(range(options)) and len(set(counts.values())) == 1


def test_the_first_order_is_the_data_s_and_two_options_have_no_third_order() -> None:
    assert orders(2, 12, "key") == [(0, 1), (1, 0)]
    assert orders(5, 3, "key")[0] == (0, 1, 2, 3, 4)
    assert len(orders(5, 3, "key")) == 3
    assert len(orders(4, 24, "key")) == 24  # all there are


def test_the_seed_draws_other_orders_and_the_same_one_the_same() -> None:
    drawn = {tuple(orders(6, 3, f"{seed} q")) for seed in range(20)}
    assert len(drawn) > 1
    assert orders(6, 12, "7 q") == orders(6, 12, "7 q")


def test_other_orders_are_other_rows(tmp_path: Path) -> None:
    """Whose digest says whether two runs asked the same."""
    rows = registry.benchmark(str(mine(tmp_path, "ABCDEF", options=6)))
    facts = {
        probed(rows, permute_options=2, seed=seed).data.facts().digest for seed in (1, 1, 2, 3)
    }
    assert len(facts) == 3


# -- samples


@pytest.mark.parametrize("spec", SPECS)
def test_the_right_option_is_the_same_in_every_order(spec: str) -> None:
    plain = bundled(spec)
    originals = {sample.id: sample for sample in map(plain.read, plain.data)}
    permuted = probed(plain, permute_options=4)
    scoring, check = permuted.scorings[permuted.headline], permuted.check
    assert check is not None
    for sample in map(permuted.read, permuted.data):
        original = originals[sample.id.rpartition("#")[0]]
        order = sample.data[ORDER]
        assert isinstance(order, list)
        assert sample.choices == tuple(original.choices[option] for option in order)
        request = permuted.request(sample)
        assert request is not None and request.choices == sample.choices
        if sample.target is None:
            continue
        assert right_text(sample, sample) == right_text(original, sample)
        reading = scoring.parse(Reply(text=check.says(sample, sample.target)), sample)
        assert scoring.score(reading, sample) == scoring.best


def right_text(sample: Sample, permuted: Sample) -> str:
    assert sample.target is not None
    if permuted.data[LETTERED]:
        return sample.choices[ascii_uppercase.index(sample.target)]
    return sample.target


@pytest.mark.parametrize("spec", ["pope", "mme", "hallusionbench", "mmmu-pro:setting=vision"])
def test_options_that_no_prompt_lists_cannot_change_places(spec: str) -> None:
    with pytest.raises(UsageError, match="does not list the choices"):
        probed(bundled(spec), permute_options=4)


def test_what_is_asked_in_rotations_already_is_refused() -> None:
    with pytest.raises(UsageError, match="mmbench already asks related questions together"):
        probed(bundled("mmbench"), permute_options=4)


@pytest.mark.parametrize("spec", ["docvqa", "eyechart:tasks=letters"])
def test_questions_without_options_are_refused(spec: str) -> None:
    with pytest.raises(UsageError, match="has choices"):
        probed(bundled(spec), permute_options=4)


@pytest.mark.parametrize("most", [1, 0, True, 2.5, 121])
def test_fewer_than_two_orders_and_too_many_are_refused(most: int) -> None:
    with pytest.raises(UsageError, match="from 2 to 120"):
        probed(bundled("scienceqa"), permute_options=most)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["a cat", "Both A and B"], "meaning depends on its position"),
        (["a cat", "None of the above"], "meaning depends on its position"),
        (["<image>", "a cat"], "meaning depends on its position"),
        (["A", "B"], "letters as choices"),
        (["18", "18"], "two equal choices"),
    ],
)
def test_a_question_that_depends_on_the_order_is_left_out_and_said(
    tmp_path: Path, options: list[str], why: str
) -> None:
    row = {"question": "Which?", "choices": ["x", "only a cat, above"], "answer": "A"}
    other = {"question": "Which?", "choices": options, "answer": "A"}
    path = tmp_path / "mine.jsonl"
    path.write_text(
        "".join(json.dumps({"id": n, **entry}) + "\n" for n, entry in enumerate((row, other)))
    )
    permuted = probed(registry.benchmark(str(path), task="mcq"), permute_options=2)
    assert [permuted.read(entry).id for entry in permuted.data] == ["0#1", "0#2"]
    assert "permuted: 1 question, each asked up to 2 times" in permuted.notes[-1]
    assert "left out: 1 with" in permuted.notes[-1] and why in permuted.notes[-1]


def test_a_target_that_is_a_text_is_not_taken_for_a_letter(tmp_path: Path) -> None:
    """As eyechart-video's, whose options are letters: "B" is the third of them here."""
    samples = [
        Sample(id="x", question="Which?", choices=("D", "C", "B", "A"), target="B"),
        Sample(id="y", question="Which?", choices=("H", "Z"), target="Z"),
    ]
    rows = registry.benchmark(str(mine(tmp_path, "AB")))
    permuted = probed(
        replace(rows, sample=lambda row_index, _: samples[row_index]), permute_options=4
    )
    assert {permuted.read(row).target for row in permuted.data} == {"B", "Z"}
    result = run(tmp_path / "runs", Says(lambda request: request.choices[-1]), permuted).result
    assert result is not None and (report := result.report.probe) is not None
    # Said is what stands last: each option once, "D" too, which is not a letter of a place here.
    assert report.places[3].picked.value == 1.0


# -- figures known beforehand


def test_who_always_takes_the_first_option_is_found_out(tmp_path: Path) -> None:
    result = snellen.evaluate(POSITIONS, "baseline/first", permute_options=4, out=tmp_path)
    report = result.report.probe
    assert report is not None
    # Each option stands first once: right in one pass of four, another option in each.
    assert result.headline.value == 0.25
    assert values(report) == {"consistency": 0.0, "circular": 0.0}
    assert [position.picked.value for position in report.places] == [1, 0, 0, 0]
    assert [position.accuracy.value for position in report.places] == [1, 0, 0, 0]
    assert [position.expected for position in report.places] == [0.25] * 4
    assert report.p == pytest.approx(1 / 2001)  # none of 2,000 deals is as uneven
    assert report.counts == {"questions": 24, "complete": 24}


def test_where_each_place_has_the_same_questions_nothing_else_is_to_be_asked(
    tmp_path: Path,
) -> None:
    result = snellen.evaluate(
        str(mine(tmp_path, "ABCD" * 10)), "baseline/first", permute_options=4, out=tmp_path
    )
    [note] = [note for note in result.report.notes if "depends on the position" in note]
    assert "100.0 % if it is A, 0.0 % if it is B" in note
    assert "--permute-options" not in note


def test_who_sees_is_where_it_was(tmp_path: Path) -> None:
    result = snellen.evaluate(POSITIONS, "baseline/reader", permute_options=4, out=tmp_path)
    report = result.report.probe
    assert report is not None
    assert result.headline.value == 1.0
    assert values(report) == {"consistency": 1.0, "circular": 1.0}
    # The right option stands in each place once.
    assert [position.picked.value for position in report.places] == [0.25] * 4
    assert [position.accuracy.value for position in report.places] == [1.0] * 4
    assert report.p == 1.0


def test_who_is_right_but_where_it_stands_in_d_has_these_figures(tmp_path: Path) -> None:
    def say(request: Request) -> str:
        return "A" if right(request) == 3 else "ABCD"[right(request)]

    report = probe(mine(tmp_path, "ABCDABCDABCD"), say, 4, tmp_path / "runs")
    # In one pass of four the right one stands in D, and A is said.
    assert values(report) == {"consistency": 0.0, "circular": 0.0}
    assert [position.picked.value for position in report.places] == [0.5, 0.25, 0.25, 0.0]
    assert [position.accuracy.value for position in report.places] == [1.0, 1.0, 1.0, 0.0]


def test_a_wrong_option_that_is_always_meant_is_consistent(tmp_path: Path) -> None:
    def say(request: Request) -> str:
        return "ABCD"[request.choices.index("east")]

    report = probe(mine(tmp_path, "ABCDAACD"), say, 4, tmp_path / "runs")
    # Right are the questions whose answer is B, 1 of 8.
    assert values(report) == {"consistency": 1.0, "circular": 0.125}
    assert report.p == 1.0


def test_a_pass_in_which_nothing_is_picked_is_not_consistent(tmp_path: Path) -> None:
    def say(request: Request) -> str:
        return "I cannot tell." if request.choices[0] == "west" else "ABCD"[right(request)]

    report = probe(mine(tmp_path, "ABCDABCD"), say, 4, tmp_path / "runs")
    assert values(report) == {"consistency": 0.0, "circular": 0.0}
    # "west" stands first in one pass; in it what is right stands behind it, or is it.
    assert [position.picked.value for position in report.places] == [0.1875] * 4
    # Three picks of the right one in four passes: the silent pass is expected nowhere.
    assert [position.expected for position in report.places] == [0.1875] * 4


def test_two_passes_of_four_options_expect_what_is_meant_where_it_stood(tmp_path: Path) -> None:
    """Of a data set whose right answer is always A not a quarter: it was A in every first pass."""
    data = mine(tmp_path, "A" * 40)
    report = probe(data, lambda request: "ABCD"[right(request)], 2, tmp_path / "sees")
    assert report.places[0].picked.value == 0.5
    assert [position.expected for position in report.places] == [
        position.picked.value for position in report.places
    ]
    assert report.p == 1.0

    report = probe(data, lambda _: "A", 2, tmp_path / "first")
    # Meant are two options of each question, each of which stood in A in one pass.
    assert [position.picked.value for position in report.places] == [1.0, 0.0, 0.0, 0.0]
    assert report.places[0].expected == 0.5
    assert report.p == pytest.approx(1 / 2001)


def test_a_question_of_which_a_pass_failed_is_in_no_figure(tmp_path: Path) -> None:
    def say(request: Request) -> str:
        if "north" in request.messages[0].text.split("\n")[0] and right(request) == 1:
            raise Rejected("no")
        return "ABCD"[right(request)]

    permuted = probed(registry.benchmark(str(mine(tmp_path, "ABCD"))), permute_options=4)
    result = run(tmp_path / "runs", Says(say), permuted).result
    assert result is not None and (report := result.report.probe) is not None
    assert result.failed == 1
    assert report.counts == {"questions": 4, "complete": 3}
    assert report.metrics["circular"].n == 3
    assert report.metrics["circular"].value == 1.0


def test_passes_of_a_question_are_one_cluster_and_are_chosen_together(tmp_path: Path) -> None:
    result = snellen.evaluate(
        POSITIONS, "baseline/first", permute_options=4, limit=10, out=tmp_path
    )
    assert result.report.n == 8
    assert "2 independent clusters" in (result.headline.reason or "")


def test_a_run_is_scored_again_as_it_was_asked(tmp_path: Path) -> None:
    result = snellen.evaluate(
        str(mine(tmp_path, "ABCDABCD")), "baseline/first", permute_options=4, out=tmp_path / "runs"
    )
    assert result.run is not None
    (tmp_path / "mine.jsonl").unlink()  # scoring needs the run's folder alone
    again = snellen.score(result.run)
    assert again.report.probe == result.report.probe
    assert again.report.identity["probe"] == {"permute_options": 4, "seed": 0}


def test_options_of_a_question_differ_in_number(tmp_path: Path) -> None:
    result = snellen.evaluate(
        "eyechart:tasks=colors+positions,n=40", "baseline/first", permute_options=8, out=tmp_path
    )
    report = result.report.probe
    assert report is not None
    # 20 questions with 8 options in 8 passes, 20 with 4 in 8: 20 of 160 and 40 of 160 are right.
    assert result.headline.value == 60 / 320
    assert [position.place for position in report.places] == [*"ABCDEFGH"]
    assert [position.expected for position in report.places] == [(160 / 8 + 160 / 4) / 320] * 4 + [
        1 / 8
    ] * 4
