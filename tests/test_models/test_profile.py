"""The bounds of a profile's fields: in a file, in a plan, and in Python."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from snellen.core.profile import ImageLimits, Prices, Profile, Timeouts, read_profile
from snellen.errors import UsageError

BEYOND = [
    ("concurrency = 0", "concurrency"),
    ("concurrency = -3", "concurrency"),
    ("max_tokens = 0", "max_tokens"),
    ("max_tokens = -5", "max_tokens"),
    ("token_floor = -1", "token_floor"),
    ("temperature = -1", "temperature"),
    ("temperature = nan", "temperature"),
    ("top_p = 0", "top_p"),
    ("top_p = 1.5", "top_p"),
    ("timeout.total = 0", "timeout.total"),
    ("timeout.first = -1", "timeout.first"),
    ("prices = { input = -1, output = 1 }", "prices.input"),
    ("prices = { input = 1, output = -1 }", "prices.output"),
]


@pytest.mark.parametrize(("line", "field"), BEYOND, ids=[line for line, _ in BEYOND])
def test_a_field_beyond_its_bounds_is_named(tmp_path: Path, line: str, field: str) -> None:
    path = tmp_path / "model.toml"
    path.write_text(line)

    with pytest.raises(UsageError, match=rf"model\.toml: Expected .* - at `\$\.{field}`"):
        read_profile(path)


def test_fields_at_their_bounds_are_read(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_text("concurrency = 1\nmax_tokens = 1\ntemperature = 0\ntop_p = 1\n")

    assert read_profile(path) == Profile(concurrency=1, max_tokens=1, temperature=0, top_p=1)


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        (Profile, {"concurrency": 0}, r"Profile: concurrency: Expected `int` >= 1"),
        (Profile, {"max_tokens": "many"}, r"Profile: max_tokens: Expected `int"),
        (Profile, {"temperature": -1}, r"Profile: temperature: Expected `float` >= 0"),
        (Timeouts, {"total": 0.0}, r"Timeouts: total: Expected `float` > 0"),
        (Prices, {"input": -1.0, "output": 1.0}, r"Prices: input: Expected `float` >= 0"),
        (ImageLimits, {"max_side": 0}, r"ImageLimits: max_side: Expected `int` >= 1"),
    ],
)
def test_bounds_hold_in_python_too(kind: Any, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        kind(**fields)


def test_bounds_hold_where_flags_are_laid_over_a_profile() -> None:
    with pytest.raises(UsageError, match="Profile: concurrency"):
        msgspec.structs.replace(Profile(), concurrency=-3)
