"""snellen run --blind, --permute-options, --open-ended."""

from tests.test_cli.conftest import Snellen

POSITIONS = "eyechart:tasks=positions,n=24"


def test_a_permuted_run_shows_what_places_do(snellen: Snellen) -> None:
    done = snellen("run", "-m", "baseline/first", "-b", POSITIONS, "--permute-options", "4")
    assert done.code == 0
    assert "24 questions are asked up to 4 times each" in done.err
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert "probe: permute_options=4, seed=0" in lines
    assert any(line.startswith("consistency 0.00 %") for line in lines)
    assert any(line.startswith("A 100.00 %") for line in lines)
    assert any(line.startswith("p 0.0005 for picks so uneven") for line in lines)
    assert "24 of 24 questions have a score in each of their passes: these count here" in lines


def test_a_blind_run_shows_what_leaks(snellen: Snellen) -> None:
    done = snellen("run", "-m", "baseline/reader", "-b", POSITIONS, "--blind", "none")
    assert done.code == 0
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert any(line.startswith("leakage of accuracy -25.00 %") for line in lines)
    assert "0 of 24 questions are answered right blind" in lines


def test_markdown_and_json_have_the_probe(snellen: Snellen) -> None:
    done = snellen(
        "run", "-m", "baseline/first", "-b", POSITIONS, "--permute-options", "4", "--json"
    )
    probe = done.json["probe"]
    assert probe["probe"] == {"permute_options": 4, "seed": 0}
    assert [one["picked"]["value"] for one in probe["places"]] == [1.0, 0.0, 0.0, 0.0]
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
    assert done.code == 2 and "does not list the options" in done.err
    done = snellen("run", "-m", "baseline/first", "-b", POSITIONS, "--blind", "black")
    assert done.code == 2 and "none" in done.err
