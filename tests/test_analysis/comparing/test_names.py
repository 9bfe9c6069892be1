"""The names of the sides of a comparison."""

from dataclasses import dataclass, field
from typing import Any

from snellen.analysis.comparing import side_names


@dataclass(frozen=True)
class StandIn:
    where: str
    generation: dict[str, Any]
    model: str = "m"
    identity: dict[str, Any] = field(default_factory=dict)


def side(where: str, **generation: Any) -> StandIn:
    identity = {"model": "m", "generation": generation}
    return StandIn(where=where, generation=generation, identity=identity)


def test_a_long_list_of_settings_is_cut_and_the_folder_tells_sides_apart() -> None:
    shared = {f"setting_{number}": 0.5 for number in range(6)}
    sides = [side("runs/m/a"), side("runs/m/b", **shared, z=1), side("runs/m/c", **shared, z=2)]
    plain, first, second = side_names([sides])[0]

    assert plain == "m"
    assert first.endswith("…) (b)")
    assert second.endswith("…) (c)")
    assert max(len(first), len(second)) <= 75
