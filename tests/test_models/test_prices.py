"""What tokens cost, and how many tokens a picture is."""

from pathlib import Path

import pytest

from snellen.core.model import Usage
from snellen.core.profile import ImageRule, Prices, Profile, read_profile
from snellen.errors import UsageError
from snellen.models.image_tokens import RULES, image_tokens

PLAIN = Prices(input=2, output=8)
CACHED = Prices(input=2, output=8, cached=0.5)
THINKS = Prices(input=2, output=8, reasoning=3)


@pytest.mark.parametrize(
    ("prices", "usage", "expected"),
    [
        (PLAIN, Usage(input=300, output=10), 300 * 2e-6 + 10 * 8e-6),
        # Without a price of their own, cached input and reasoning cost as all input and output.
        (PLAIN, Usage(input=300, output=10, cached=200, reasoning=4), 300 * 2e-6 + 10 * 8e-6),
        (CACHED, Usage(input=300, output=10, cached=200), 100 * 2e-6 + 200 * 0.5e-6 + 10 * 8e-6),
        (CACHED, Usage(input=300, output=10), 300 * 2e-6 + 10 * 8e-6),
        (THINKS, Usage(input=300, output=10, reasoning=4), 300 * 2e-6 + 6 * 8e-6 + 4 * 3e-6),
        # A part is never more than the whole, whatever a server says.
        (CACHED, Usage(input=300, output=0, cached=500), 300 * 0.5e-6),
        (THINKS, Usage(input=0, output=10, reasoning=40), 10 * 3e-6),
        (PLAIN, Usage(input=0, output=0), 0.0),
        (PLAIN, Usage(input=300), None),
        (PLAIN, Usage(output=10), None),
        (PLAIN, None, None),
    ],
)
def test_what_a_reply_cost(prices: Prices, usage: Usage | None, expected: float | None) -> None:
    assert prices.cost(usage) == (None if expected is None else pytest.approx(expected))


def test_prices_are_read_from_a_profile(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("profile") / "m.toml"
    path.write_text(
        'image_tokens = "anthropic"\n[prices]\ninput = 3\noutput = 15\ncached = 0.3\n'
        'reasoning = 15\ncurrency = "EUR"\n'
    )

    assert read_profile(path) == Profile(
        image_tokens="anthropic",
        prices=Prices(input=3, output=15, cached=0.3, reasoning=15, currency="EUR"),
    )


@pytest.mark.parametrize("currency", ["", "US dollars", "a\x1b[2J" * 3])
def test_a_currency_is_one_short_word(currency: str) -> None:
    with pytest.raises(UsageError, match="Prices: currency"):
        Prices(input=1, output=1, currency=currency)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ('image_tokens = "guess"', "image_tokens.*may be 'qwen2-vl', .*'gemini', a number"),
        ('[serve]\nkind = "ollama"', "serve.kind.*may be 'vllm', 'sglang', 'transformers'"),
        ('temperature = "hot"', "temperature.*may be 'default', a number"),
        ("warmth = 1", "warmth.*has the fields base_url"),
    ],
)
def test_what_a_field_may_be_is_said_where_it_is_none_of_its_words(
    tmp_path: Path, written: str, message: str
) -> None:
    path = tmp_path / "model.toml"
    path.write_text(written)
    with pytest.raises(UsageError, match=message):
        read_profile(path)


def test_a_rule_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="image_tokens"):
        Profile(image_tokens="guess")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rule", "size", "expected"),
    [
        # The vendor's own examples: platform.openai.com/docs/guides/images-vision.
        ("openai-tiles", (1024, 1024), 765),
        ("openai-tiles", (2048, 4096), 1105),
        # Nothing is scaled up: what the service counted of a picture of 128 x 64 (267 and 97 tokens
        # at high and low detail), community.openai.com/t/1262691.
        ("openai-tiles", (128, 64), 255),
        # The vendor's example: ai.google.dev/gemini-api/docs/image-understanding.
        ("gemini", (960, 540), 258 * 3 * 2),
        ("gemini", (384, 384), 258),
        # Tiles of at most 768 pixels: 3 x 3; and of at least 256: 4 x 1.
        ("gemini", (2000, 2000), 258 * 9),
        ("gemini", (1000, 100), 258 * 4),
        # The vendor's table, platform.claude.com/docs/en/build-with-claude/vision: 36 x 36 squares.
        ("anthropic", (1000, 1000), 1296),
        ("anthropic", (200, 200), 64),
        # 1,092 x 1,092 are 39 x 39 squares; more pixels are scaled to no more than 1,568 tokens.
        ("anthropic", (1092, 1092), 1521),
        ("anthropic", (1568, 728), 1456),
        ("anthropic", (4000, 4000), 1568),
        ("anthropic-high", (1568, 1568), 3136),
        # smart_resize of transformers 5.23.0 on the same sizes, and the two marks around a picture.
        ("qwen2-vl", (1200, 700), 43 * 25 + 2),
        ("qwen2-vl", (20, 20), 2 * 2 + 2),
        ("qwen2-vl", (5000, 5000), 127 * 127 + 2),
        ("qwen3-vl", (1280, 720), 40 * 22 + 2),
        ("qwen3-vl", (64, 64), 8 * 8 + 2),
    ],
)
def test_tokens_of_a_picture_are_those_that_its_vendor_counts(
    rule: ImageRule, size: tuple[int, int], expected: int
) -> None:
    assert image_tokens(rule, *size) == expected


@pytest.mark.parametrize("rule", RULES)
def test_a_picture_on_its_side_has_as_many_tokens(rule: ImageRule) -> None:
    for width, height in ((1, 1), (3, 900), (640, 427), (5000, 1200)):
        assert image_tokens(rule, width, height) == image_tokens(rule, height, width) > 0
