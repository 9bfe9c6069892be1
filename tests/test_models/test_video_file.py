"""Videos as files to servers with OpenAI's chat completions API, as vLLM and SGLang take them."""

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.benchmarks import video_mme as video_mme_file
from snellen.core.model import Request
from snellen.core.profile import Profile
from snellen.errors import Rejected, UsageError
from snellen.media.content import Cue, Video, user
from snellen.models import openai, video_file
from tests.servers import completion, serving

VIDEO_MME = Path(video_mme_file.__file__).parent / "rows/video_mme"
VLLM = {
    "native_video": True,
    "media_io_kwargs": {"video": {"num_frames": 32}},
    "mm_processor_kwargs": {"max_pixels": 200_704},
}


def test_a_run_sends_whole_files_and_the_servers_settings_are_in_its_identity(
    tmp_path: Path,
) -> None:
    def run(extra: dict[str, Any]) -> Any:
        return snellen.evaluate(
            "video-mme",
            "openai/m",
            profile=Profile(base_url=server.url, extra=extra),
            data=VIDEO_MME,
            frames="uniform:2,side=64",
            limit=1,
            out=tmp_path,
        )

    with serving(completion("B")) as server:
        by_file, with_other_frames, by_frames = (
            run(VLLM),
            run({**VLLM, "media_io_kwargs": {"video": {"num_frames": 64}}}),
            run({}),
        )

    assert len({result.run for result in (by_file, with_other_frames, by_frames)}) == 3
    first, _, frames = (request.json for request in server.requests)
    sent, text = first["messages"][0]["content"]
    assert sent.keys() == {"type", "video_url"} and text["type"] == "text"
    head, _, data = sent["video_url"]["url"].partition(",")
    assert head == "data:video/mp4;base64"
    (line,) = (by_file.run / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    question = json.loads(line)
    path = VIDEO_MME / "data" / question["media"][0]["place"]
    assert b64decode(data, validate=True) == path.read_bytes()
    assert first["mm_processor_kwargs"] == {"max_pixels": 200_704}
    assert "native_video" not in first
    assert [part["type"] for part in frames["messages"][0]["content"]][:2] == ["image_url"] * 2
    manifest = json.loads((by_file.run / "manifest.json").read_text())
    assert manifest["identity"]["profile"]["extra"] == VLLM
    assert any("the server chose the frames" in note for note in manifest["notes"])


async def error_of(video: Video) -> Rejected:
    with serving(completion("A")) as server:
        profile = Profile(base_url=server.url, extra={"native_video": True})
        model = openai.open_model("m", profile=profile, api_key=None)
        with pytest.raises(Rejected) as caught:
            await model.generate(Request(messages=(user(video, "What?"),)))
        await model.close()
        assert server.requests == []
    return caught.value


@pytest.mark.parametrize(
    ("fields", "says", "hopeless"),
    [
        ({"end": 3.0}, "the question is about a part of the video", True),
        ({"start": 1.0}, "the question is about a part of the video", True),
        ({"subtitles": (Cue(0, 1, "Hi"),)}, "texts between the frames", True),
        ({"policy": "uniform:4,stamps=qwen3-vl"}, "texts between the frames", True),
        ({"source": Path("v.exe")}, "only these videos can be sent as files", False),
        ({"source": Path("none.mp4")}, "is missing", False),
    ],
)
async def test_what_a_file_cannot_show_is_rejected(
    tmp_path: Path, fields: dict[str, Any], says: str, hopeless: bool
) -> None:
    path = tmp_path / "v.mp4"
    path.write_bytes(b"video")
    fields = {"source": path, **fields}

    error = await error_of(Video(**fields))

    assert says in str(error)
    assert error.hopeless is hopeless


async def test_a_file_that_is_too_large_says_how_to_send_frames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(video_file, "MOST_BYTES", 4)
    path = tmp_path / "v.mp4"
    path.write_bytes(b"video")

    assert "Remove native_video to send its frames" in str(await error_of(Video(path)))


def test_the_option_is_true_or_false() -> None:
    with pytest.raises(UsageError, match="must be true or false"):
        openai.open_model(
            "m",
            profile=Profile(base_url="http://127.0.0.1:1/v1", extra={"native_video": "yes"}),
            api_key=None,
        )
