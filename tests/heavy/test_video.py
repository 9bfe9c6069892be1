"""OVO-Bench's questions about real videos, put to a tiny random model behind a real third-party
server: offline, and polled while the videos run."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import snellen
from snellen.core.model import ReplyState
from snellen.core.profile import Profile
from snellen.store import ReplyRecord, Run
from tests import ovo
from tests.heavy import test_transformers_serve as serve
from tests.heavy.counting_proxy import Seen
from tests.ovo import OvoData

pytestmark = pytest.mark.heavy
model, server, proxy = serve.model, serve.server, serve.proxy  # fixtures
THERE: tuple[ReplyState, ...] = ("ok", "empty", "truncated")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> OvoData:
    return ovo.make_data(tmp_path_factory.mktemp("ovo"))


@pytest.mark.parametrize(
    ("options", "frames", "adapter", "fewest"),
    # The first points that are polled are after two seconds: three frames with the newest.
    [("", "uniform:8", None, 8), (":mode=polled", None, "window:4", 3)],
)
def test_every_point_is_asked_once_and_gets_a_reply(
    data: OvoData,
    model: Path,
    proxy: Seen,
    tmp_path: Path,
    options: str,
    frames: str | None,
    adapter: str | None,
    fewest: int,
) -> None:
    result = snellen.evaluate(
        f"ovo-bench{options}",
        f"openai/{model}",
        profile=Profile(base_url=f"{proxy.url}/v1"),
        data=data.folder,
        out=tmp_path,
        frames=frames,
        adapter=adapter,
        concurrency=2,
        max_tokens=8,
        temperature=0.0,
    )

    assert result.run is not None
    records = [reply for reply in Run(result.run).replies() if isinstance(reply, ReplyRecord)]
    assert Counter(reply.key[0] for reply in records) == Counter(point.id for point in data.points)
    assert {reply.state for reply in records} <= set(THERE)
    assert set(proxy.requests.values()) == {1}
    assert proxy.total == proxy.statuses[200] == len(data.points)
    # A picture is 16 tokens at least, so all were read; and the words hang on them.
    tokens = [reply.usage.input for reply in records if reply.usage and reply.usage.input]
    assert len(tokens) == len(data.points)
    assert min(tokens) > 16 * fewest
    assert len({reply.reply for reply in records}) > len(records) / 2
