"""Pictures that a model was shown, had again from where they lay."""

from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.store import Run
from snellen.view.media import Media
from snellen.view.runs import Runs


@pytest.mark.parametrize(
    "probe", [{}, {"blind": "blank"}, {"blind": "other"}, {"permute_options": 2}]
)
def test_the_picture_that_was_sent_is_shown_under_a_probe_too(
    tmp_path: Path, probe: dict[str, Any]
) -> None:
    result = snellen.evaluate(
        "eyechart:tasks=positions,n=6", "baseline/reader", out=tmp_path / "runs", **probe
    )
    (listed,) = Runs(tmp_path / "runs").all()
    assert result.run is not None
    media = Media()
    questions = list(Run(result.run).questions())
    assert len(questions) >= 6
    for question in questions:
        assert media.image(listed, question, 0, None).digest == question.media[0].digest
