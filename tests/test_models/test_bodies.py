"""Bodies of requests: JSON with pictures put in afterwards."""

import json

import orjson
import pytest

from snellen.models.service import Encoded, body_of


def test_strings_that_are_encoded_already_stand_where_they_belong() -> None:
    body = body_of(
        {
            "pictures": [
                {"url": Encoded((b"data:image/png;base64,", b"AAAA"))},
                Encoded((b"BBBB",)),
            ],
            "absent": None,
            "text": "between",
            "last": Encoded((b"CCCC",)),
        }
    )
    assert json.loads(body) == {
        "pictures": [{"url": "data:image/png;base64,AAAA"}, "BBBB"],
        "text": "between",
        "last": "CCCC",
    }


def test_text_with_the_byte_that_marks_a_gap_stays_text() -> None:
    body = body_of({"one": "\0", "picture": Encoded((b"AAAA",)), "\0": "a\0b"})
    assert json.loads(body) == {"one": "\0", "picture": "AAAA", "\0": "a\0b"}


def test_what_json_has_not_is_an_error() -> None:
    with pytest.raises(orjson.JSONEncodeError, match="object"):
        body_of({"one": object(), "two": Encoded((b"AAAA",))})
