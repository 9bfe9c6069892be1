"""snellen run --blind, --permute-options, --open-ended."""

import snellen as library
from tests.test_cli.conftest import Snellen

POSITIONS = "eyechart:tasks=positions,n=24"


def test_a_permuted_run_shows_what_places_do(snellen: Snellen) -> None:
    done = snellen("run", "-m", "baseline/first", "-b", POSITIONS, "--permute-options", "4")
    assert done.code == 0
    assert "24 questions, each asked up to 4 times" in done.err
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert "probe: permute_options=4, seed=0" in lines
    assert any(line.startswith("consistency 0.00 %") for line in lines)
    assert any(line.startswith("A 100.00 %") for line in lines)
    assert any(
        line.startswith("p 0.0005: the probability of picks at least as uneven") for line in lines
    )
    assert "24 of 24 questions have a score in all of their passes; only these count here" in lines


def test_a_blind_run_shows_what_leaks(snellen: Snellen) -> None:
    done = snellen("run", "-m", "baseline/reader", "-b", POSITIONS, "--blind", "none")
    assert done.code == 0
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert any(line.startswith("leakage of accuracy -25.00 %") for line in lines)
    assert "0 of 24 questions are answered right without seeing" in lines


def test_markdown_and_json_have_the_probe(snellen: Snellen) -> None:
    done = snellen(
        "run", "-m", "baseline/first", "-b", POSITIONS, "--permute-options", "4", "--json"
    )
    probe = done.json["probe"]
    assert probe["probe"] == {"permute_options": 4, "seed": 0}
    assert [entry["picked"]["value"] for entry in probe["places"]] == [1.0, 0.0, 0.0, 0.0]
    shown = snellen("report", "runs", "--format", "md")
    assert "| consistency | 0.00 % |" in shown.out
    assert "| A | 100.00 % |" in shown.out


def test_a_plan_may_have_a_probe(snellen: Snellen) -> None:
    with open("plan.toml", "w") as file:
        file.write(f'models = ["baseline/first"]\nbenchmarks = ["{POSITIONS}"]\nblind = "none"\n')
    done = snellen("run", "plan.toml")
    assert done.code == 0 and "probe: blind=none" in done.out


def test_what_cannot_be_asked_so_is_wrong_use(snellen: Snellen) -> None:
    done = snellen(
        "run", "-m", "baseline/first", "-b", "pope", "--data", "synthetic", "--open-ended"
    )
    assert done.code == 2 and "does not list the choices" in done.err
    done = snellen("run", "-m", "baseline/first", "-b", POSITIONS, "--blind", "black")
    assert done.code == 2 and "none" in done.err
    done = snellen("run", "-m", "baseline/first", "-b", POSITIONS, "--probe-seed", "1")
    assert done.code == 2 and "Use --probe-seed with --blind other" in done.err


def test_a_probe_ends_with_what_the_run_as_asked_has_above_it(snellen: Snellen) -> None:
    alone = snellen("run", "-m", "baseline/reader", "-b", POSITIONS, "--blind", "none")
    assert "to compare with a run without the probe" in alone.err
    snellen("run", "-m", "baseline/reader", "-b", POSITIONS)
    # Asked at another temperature it is no such run.
    snellen("run", "-m", "baseline/reader", "-b", POSITIONS, "--temperature", "1")
    done = snellen("run", "-m", "baseline/reader", "-b", POSITIONS, "--blind", "none")
    text = " ".join(done.out.split())
    assert "baseline/reader is 100.00 pp above baseline/reader (blind=none) in accuracy" in text
    assert "so any higher score of baseline/reader comes from seeing" in text
    assert "they differ in probe.blind: none against not set" in text


def test_another_probe_is_no_run_as_the_benchmark_asks(snellen: Snellen) -> None:
    for kind in ("none", "blank"):
        done = snellen("run", "-m", "baseline/reader", "-b", POSITIONS, "--blind", kind)
        assert "to compare with a run without the probe" in done.err
    done = snellen("compare", "runs")
    assert "baseline/reader (blind=blank)" in " ".join(done.out.split())
    assert "comes from seeing" not in done.out


def test_who_does_not_look_gains_nothing_by_seeing(snellen: Snellen) -> None:
    snellen("run", "-m", "baseline/first", "-b", POSITIONS)
    done = snellen("run", "-m", "baseline/first", "-b", POSITIONS, "--blind", "other")
    text = " ".join(done.out.split())
    assert "baseline/first and baseline/first (blind=other seed=0) have the same accuracy" in text
    assert "only baseline/first on 0; only baseline/first (blind=other seed=0) on 0" in text


def test_choosing_is_told_from_knowing(snellen: Snellen) -> None:
    """The reader has words for colors, and for places only those that it is offered."""
    spec = "eyechart:tasks=colors+positions,n=40"
    snellen("run", "-m", "baseline/reader", "-b", spec)
    done = snellen("run", "-m", "baseline/reader", "-b", spec, "--open-ended")
    text = " ".join(done.out.split())
    assert "baseline/reader is 50.00 pp above baseline/reader (open_ended=True)" in text
    assert "comes from picking among choices rather than from knowledge" in text


def test_compare_names_the_probe_and_takes_runs_of_all_kinds(snellen: Snellen) -> None:
    for flags in ((), ("--blind", "none"), ("--open-ended",), ("--permute-options", "4")):
        assert snellen("run", "-m", "baseline/reader", "-b", POSITIONS, *flags).code == 0
    done = snellen("compare", "runs")
    assert done.code == 0
    text = " ".join(done.out.split())
    assert "baseline/reader (blind=none)" in text
    # Its samples are asked four times each, under ids of their own.
    assert "is not compared: no other side has the same questions" in text


def test_tables_of_runs_say_which_was_asked_otherwise(snellen: Snellen) -> None:
    snellen("run", "-m", "baseline/reader", "-b", POSITIONS, "--blind", "none")
    snellen("run", "-m", "baseline/reader", "-b", POSITIONS)
    snellen("run", "-m", "baseline/reader", "-b", "eyechart:tasks=colors,n=12")
    lines = [" ".join(line.split()) for line in snellen("report", "runs").out.splitlines()]
    (blind,) = [line for line in lines if line.endswith("probe: blind=none")]
    assert " 0.00 % " in blind
    # What a model can do is not told by what it was not shown.
    spatial = [line for line in lines if "perception/spatial" in line]
    assert not spatial or all("100.00 %" in line for line in spatial)
    sheet = snellen("report", "runs", "--format", "csv").out
    assert sum(",probe: blind=none," in line for line in sheet.splitlines()) > 0


def test_a_result_prints_its_probe(snellen: Snellen) -> None:
    result = library.evaluate(POSITIONS, "baseline/first", permute_options=4)
    text = " ".join(str(result).split())
    assert "probe consistency 0.00 %" in text and "probe circular 0.00 %" in text


def test_what_seeing_gives_is_said_of_one_model_alone(snellen: Snellen) -> None:
    snellen("run", "-m", "baseline/first", "-b", POSITIONS, "--blind", "none")
    snellen("run", "-m", "baseline/reader", "-b", POSITIONS)
    snellen("run", "-m", "baseline/reader", "-b", POSITIONS, "--open-ended")
    blind, sighted = "runs/eyechart/baseline__first", "runs/eyechart/baseline__reader"
    done = snellen("compare", blind, sighted)
    assert done.code == 0 and "comes from seeing" not in done.out
    # The open-ended run is compared, and stands on no leaderboard with the others.
    board, _, pairs = done.out.partition("all pairs")
    assert "open_ended=True" not in board.partition("eyechart: official and")[0]
    assert "open_ended=True" in pairs
    assert (
        "(open_ended=True) is compared in pairs but not ranked: it was asked without choices"
        in pairs
    )


def test_a_benchmark_under_a_probe_has_the_probe_in_its_name(snellen: Snellen) -> None:
    for model in ("baseline/first", "baseline/reader"):
        snellen("run", "-m", model, "-b", POSITIONS)
        snellen("run", "-m", model, "-b", POSITIONS, "--permute-options", "4")
    done = snellen("compare", "runs")

    boards = [line.partition(":")[0] for line in done.out.splitlines() if "that all share" in line]
    assert sorted(boards) == ["eyechart", "eyechart (permute_options=4)"]
