"""Whatever a server sends, each question ends as a stored reply or a stored failure."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import snellen
from snellen.core.model import Generates, Request
from snellen.core.profile import Profile
from snellen.errors import Overloaded, Rejected
from snellen.media.content import user
from snellen.registry import model
from tests.mutations import Mutations, run_on, sending
from tests.servers import serving
from tests.vendors import VENDORS, Vendor

N = 150
"""Replies for each back end; `python -m tests.mutations` sends as many as you like."""


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.kind)
def test_a_mutated_reply_is_a_reply_or_a_failure(vendor: Vendor, tmp_path: Path) -> None:
    mutations = Mutations(vendor, seed=19)

    finished = run_on([mutations.reply(i) for i in range(N)], vendor, tmp_path)

    assert finished.stopped is None
    assert finished.result is not None
    states = finished.result.report.replies
    assert sum(states.values()) == 2 * N
    assert states["ok"] >= N and states["failed"] > 0
    assert "OverflowError" not in (finished.run / "replies.jsonl").read_text()
    assert snellen.score(finished.run).report.replies == states


@pytest.mark.parametrize("status", [408, 429, 500, 503])
@pytest.mark.parametrize(
    "date",
    [
        "Mon, 01 Jan 99999999999 00:00:00 GMT",
        "Mon, 01 Jan 2030 00:00:00 +99999999999999",
        "Mon, 01 Jan 0001 00:00:00 -0000",
    ],
)
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.kind)
async def test_a_date_that_no_calendar_has_asks_for_no_wait(
    vendor: Vendor, date: str, status: int
) -> None:
    with serving(vendor.error(status, **{"Retry-After": date})) as server:
        opened = model(f"{vendor.kind}/m", profile=Profile(base_url=server.url)).model
        assert isinstance(opened, Generates)
        with pytest.raises(Overloaded) as caught:
            await opened.generate(Request(messages=(user("Which?"),)))
        await opened.close()  # type: ignore[attr-defined]

    assert caught.value.retry_after in (None, 0.0)


@pytest.mark.parametrize("number", ["true", "-5", "1.5", '"7"', "[7]"])
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.kind)
def test_what_is_no_count_of_tokens_is_not_stored_as_one(
    vendor: Vendor, number: str, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "q", "question": "Which?", "A": "x", "B": "y", "answer": "A"}')
    answer = vendor.answered("A")
    body = re.sub(rb": \d+(?=[,}])", b": " + number.encode(), answer.body)
    with serving(replace(answer, body=body)) as server:
        result = snellen.evaluate(
            str(rows), f"{vendor.kind}/m", base_url=server.url, out=tmp_path / "runs"
        )

    (run,) = (tmp_path / "runs").glob("*/*/*/")
    again = snellen.score(run)
    assert again.report.replies == result.report.replies
    assert sum(again.report.replies.values()) == 1


async def test_bytes_of_a_header_that_are_not_utf_8_can_be_stored() -> None:
    reply = b"HTTP/1.1 302 X\r\nLocation: http://host/\xff\r\nContent-Length: 0\r\n\r\n"
    with sending(lambda _: reply) as url:
        opened = model("openai/m", profile=Profile(base_url=url)).model
        assert isinstance(opened, Generates)
        with pytest.raises(Rejected, match="the server redirects to") as caught:
            await opened.generate(Request(messages=(user("Which?"),)))
        await opened.close()  # type: ignore[attr-defined]

    assert str(caught.value).encode()
