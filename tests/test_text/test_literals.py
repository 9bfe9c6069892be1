import pytest

from snellen.text.literals import literal


@pytest.mark.parametrize("prefix", ["0x", "0o"])
def test_an_integer_that_cannot_be_written_in_decimals_is_no_literal(prefix: str) -> None:
    assert literal(f"[{prefix}7]") == [7]
    with pytest.raises(ValueError, match="is not a Python literal"):
        literal(f"[1, {{'a': {prefix}{'7' * 5000}}}]")
