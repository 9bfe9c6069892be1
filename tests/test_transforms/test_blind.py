"""Without the pictures: what is sent, and what a score without them tells."""

import base64
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

import snellen
from snellen import registry
from snellen.analysis.result import Result
from snellen.core.benchmark import Benchmark
from snellen.errors import DataError, UsageError
from snellen.media import images
from snellen.media.content import Image, Message, Video, user
from snellen.media.drawing import Canvas
from snellen.store import Run
from snellen.transforms.blind import may_stand_for
from snellen.transforms.probes import CHANGES, Blind, again, probed
from tests.servers import completion, serving
from tests.tiny import Says, run, states

POSITIONS = "eyechart:tasks=positions,n=24"


def digests(messages: Sequence[Message]) -> list[str | None]:
    return [images.load(image).digest for message in messages for image in message.images]


def messages_sent(benchmark: Benchmark) -> dict[str, tuple[Message, ...]]:
    """What is sent about each sample, by its id."""
    messages_by_id = {}
    for sample in map(benchmark.read, benchmark.data):
        request = benchmark.request(sample)
        assert request is not None
        messages_by_id[sample.id] = request.messages
    return messages_by_id


def mine(folder: Path, *rows: dict[str, Any]) -> Benchmark:
    path = folder / "mine.jsonl"
    path.write_text("".join(json.dumps({"answer": "x"} | row) + "\n" for row in rows))
    return registry.benchmark(str(path), task="vqa")


def picture(folder: Path, name: str, width: int, height: int = 8) -> str:
    (folder / name).write_bytes(Canvas(width, height).png())
    return name


# -- what is sent


def test_none_sends_the_words_alone() -> None:
    plain, blind = (
        messages_sent(benchmark) for benchmark in (eyechart(), probed(eyechart(), blind="none"))
    )
    for name, (message,) in blind.items():
        assert message.content == (plain[name][0].text,)


def test_marks_of_pictures_go_with_them(tmp_path: Path) -> None:
    names = [picture(tmp_path, f"{n}.png", 8 + n) for n in range(2)]
    benchmark = mine(tmp_path, {"images": names, "question": "Is <image 2> like <image 1>?"})
    (message,) = messages_sent(probed(benchmark, blind="none"))["0"]
    assert not message.images
    assert "<image" not in message.text and "like" in message.text


def test_blank_sends_grey_pictures_of_the_same_sizes(tmp_path: Path) -> None:
    names = [picture(tmp_path, "a.png", 13, 7), picture(tmp_path, "b.png", 5, 21)]
    benchmark = mine(tmp_path, {"images": names, "question": "Is <image 2> like <image 1>?"})
    (message,) = messages_sent(probed(benchmark, blind="blank"))["0"]
    shown = [images.load(image) for image in message.images]
    assert [(image.width, image.height) for image in shown] == [(5, 21), (13, 7)]
    assert all((images.pixels(image) == 128).all() for image in shown)
    (plain,) = messages_sent(benchmark)["0"]
    assert [isinstance(part, str) for part in message.content] == [
        isinstance(part, str) for part in plain.content
    ]


@pytest.mark.parametrize("kind", get_args(Blind))
def test_every_kind_has_its_words_and_is_made_again_from_a_manifest(kind: str) -> None:
    probe = probed(eyechart(), blind=kind)
    assert any("blind: " in note for note in probe.notes)
    assert CHANGES[kind]
    assert messages_sent(again(eyechart(), probe.provenance.probe)) == messages_sent(probe)


def test_other_shows_each_picture_once_and_never_to_its_own_question() -> None:
    plain, blind = (
        messages_sent(benchmark) for benchmark in (eyechart(), probed(eyechart(), blind="other"))
    )
    own = {name: digests(messages) for name, messages in plain.items()}
    shown = {name: digests(messages) for name, messages in blind.items()}
    assert all(own[name] != shown[name] for name in own)
    assert sorted(map(str, shown.values())) == sorted(map(str, own.values()))
    assert [m.text for m in blind["positions-0"]] == [m.text for m in plain["positions-0"]]


def test_other_depends_on_rows_and_seed_alone() -> None:
    first = {
        name: digests(messages)
        for name, messages in messages_sent(probed(eyechart(), blind="other")).items()
    }
    again = probed(eyechart(), blind="other")
    last = list(map(again.read, again.data))[-1]
    request = again.request(last)
    assert request is not None and digests(request.messages) == first[last.id]
    drawn = messages_sent(probed(eyechart(), blind="other", seed=1))
    assert {name: digests(messages) for name, messages in drawn.items()} != first


def test_questions_about_one_picture_are_shown_the_same_other_one(tmp_path: Path) -> None:
    a, b, c = (picture(tmp_path, f"{name}.png", 8 + n) for n, name in enumerate("abc"))
    (tmp_path / "copy.png").write_bytes((tmp_path / "a.png").read_bytes())
    rows = [{"image": name, "question": "What?"} for name in (a, a, "copy.png", b, c)]
    messages = messages_sent(probed(mine(tmp_path, *rows), blind="other"))
    shown = [digests(messages[str(n)]) for n in range(5)]
    assert shown[0] == shown[1] == shown[2]  # the copy is the same picture under another name
    assert len({str(pictures) for pictures in shown}) == 3


def test_a_question_with_two_pictures_is_shown_neither_of_them(tmp_path: Path) -> None:
    names = [picture(tmp_path, f"{n}.png", 8 + n) for n in range(4)]
    benchmark = mine(
        tmp_path,
        {"images": names[:2], "question": "Alike?"},
        {"images": [names[1], names[0]], "question": "Alike?"},
        {"image": names[2], "question": "What?"},
        {"image": names[3], "question": "What?"},
    )
    for seed in range(6):
        plain, blind = (
            messages_sent(benchmark),
            messages_sent(probed(benchmark, blind="other", seed=seed)),
        )
        for name in plain:
            own, shown = digests(plain[name]), digests(blind[name])
            assert len(own) == len(shown) and not {*own} & {*shown}


def test_the_first_picture_stands_for_the_first_and_a_single_one_for_all(tmp_path: Path) -> None:
    names = [picture(tmp_path, f"{n}.png", 8 + n) for n in range(4)]
    alike = {"images": names[:2], "question": "Alike?"}
    benchmark = mine(tmp_path, alike, {"images": names[2:], "question": "Alike?"})
    plain, blind = messages_sent(benchmark), messages_sent(probed(benchmark, blind="other"))
    assert digests(blind["0"]) == digests(plain["1"])
    benchmark = mine(tmp_path, alike, {"image": names[2], "question": "What?"})
    plain, blind = messages_sent(benchmark), messages_sent(probed(benchmark, blind="other"))
    assert digests(blind["1"]) == digests(plain["0"])[:1]
    assert digests(blind["0"]) == digests(plain["1"]) * 2


def test_a_picture_never_stands_for_a_video() -> None:
    shows_both = frozenset({"sha256:1", "video:a.mp4"})
    assert not may_stand_for(frozenset({"sha256:2"}), shows_both)
    assert may_stand_for(frozenset({"sha256:2", "video:b.mp4"}), shows_both)
    assert not may_stand_for(frozenset({"sha256:2", "video:a.mp4"}), shows_both)


def test_one_picture_for_all_rows_leaves_no_other(tmp_path: Path) -> None:
    name = picture(tmp_path, "a.png", 8)
    benchmark = mine(tmp_path, *({"image": name, "question": f"What {n}?"} for n in range(3)))
    with pytest.raises(DataError, match="can replace those of sample '0'"):
        messages_sent(probed(benchmark, blind="other"))


def test_a_question_that_is_a_picture_alone_cannot_be_asked_without(tmp_path: Path) -> None:
    benchmark = mine(tmp_path, {"image": picture(tmp_path, "a.png", 8), "question": "What?"})
    bare = probed(benchmark, blind="none")
    sample = next(map(bare.read, bare.data))
    (message,) = benchmark.prompt(sample, ())
    alone = Message("user", message.images)
    with pytest.raises(DataError, match="leaves nothing to ask for sample '0'"):
        messages_sent(probed(replace(benchmark, prompt=lambda *_: (alone,)), blind="none"))


def test_a_missing_picture_fails_its_question_blind_too(tmp_path: Path) -> None:
    rows = [{"image": picture(tmp_path, f"{n}.png", 8 + n), "question": "What?"} for n in range(3)]
    benchmark = mine(tmp_path, *rows)
    (tmp_path / "1.png").unlink()
    for kind in ("blank", "other"):
        result = run(tmp_path / kind, Says(lambda _: "x"), probed(benchmark, blind=kind)).result
        assert result is not None and result.failed == 1
        assert any("1.png" in note for note in result.report.notes)


def test_rows_with_nothing_to_see_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no pictures or videos to hide"):
        probed(mine(tmp_path, {"question": "What is 1 + 1?"}), blind="none")


def test_rows_that_show_nothing_are_counted(tmp_path: Path) -> None:
    rows = [
        {"question": "What is 1 + 1?"},
        {"question": "What?", "image": picture(tmp_path, "a", 8)},
    ]
    benchmark = probed(mine(tmp_path, *rows), blind="none")
    assert benchmark.notes[-1].endswith(
        "; 1 of 2 rows show nothing anyway, and are asked unchanged"
    )


def test_a_benchmark_of_the_caller_s_is_scored_as_its_run_was_asked(tmp_path: Path) -> None:
    rows = [{"question": "What?", "image": picture(tmp_path, f"{n}.png", 8 + n)} for n in range(3)]
    benchmark = replace(mine(tmp_path, *rows), name="of-my-own")
    result = snellen.evaluate(benchmark, Says(lambda _: "x"), blind="none", out=tmp_path / "runs")
    assert result.run is not None
    scored = snellen.score(result.run, benchmark)
    assert scored.report.probe == result.report.probe is not None


def test_a_probed_benchmark_does_not_score_a_run_that_was_asked_otherwise(tmp_path: Path) -> None:
    rows = [{"question": "What?", "image": picture(tmp_path, f"{n}.png", 8 + n)} for n in range(3)]
    benchmark = replace(mine(tmp_path, *rows), name="of-my-own")
    plain = snellen.evaluate(benchmark, Says(lambda _: "x"), out=tmp_path / "runs").run
    assert plain is not None
    with pytest.raises(
        UsageError, match="has the probe none, but the benchmark that was passed has the probe"
    ):
        snellen.score(plain, probed(benchmark, blind="none"))


@pytest.mark.parametrize(
    "probe",
    [
        {"blind": "noise"},
        {"blind": "none", "permute_options": 4},
        {"permute_options": "4"},
        {"permute_options": 4, "seed": "0"},
        {"upside_down": True},
    ],
)
def test_a_later_version_s_probe_is_not_taken_for_one_of_ours(probe: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="does not know the probe"):
        again(eyechart(), probe)


def test_every_turn_of_a_conversation_is_asked_blind(tmp_path: Path) -> None:
    a, b, c, d = (picture(tmp_path, f"{name}.png", 8 + n) for n, name in enumerate("abcd"))
    rows = [
        {"turns": [{"question": "One?", "image": left}, {"question": "Two?", "image": right}]}
        for left, right in ((a, b), (c, d))
    ]
    benchmark = mine(tmp_path, *rows)
    own = {digest for name in (a, b) for digest in digests([user(Image(tmp_path / name))])}
    for kind, pictures in (("none", [0, 0]), ("blank", [1, 2]), ("other", [1, 2])):
        model = Says(lambda _: "x")
        done = run(tmp_path / kind, model, probed(benchmark, blind=kind))
        first = [
            request for request in model.requests if request.origin and request.origin.sample == "0"
        ]
        assert sorted(len(digests(request.messages)) for request in first) == pictures
        assert not any(own & {*digests(request.messages)} for request in first)
        assert states(done) == {"ok": 2}  # the answer is the last turn's


def test_videos_may_be_left_out_or_another_rows_but_not_blank() -> None:
    benchmark = registry.benchmark("video-mme", data=Path("synthetic"))
    with pytest.raises(UsageError, match="Use none or other"):
        probed(benchmark, blind="blank")
    assert not any(
        message.videos for (message,) in messages_sent(probed(benchmark, blind="none")).values()
    )
    plain, blind = messages_sent(benchmark), messages_sent(probed(benchmark, blind="other"))
    for name, (message,) in blind.items():
        (own,), (shown,) = plain[name][0].videos, message.videos
        assert isinstance(shown, Video) and shown.source != own.source


def test_streams_are_refused() -> None:
    with pytest.raises(UsageError, match="asks for sessions here"):
        probed(registry.benchmark("eyechart-video:mode=polled"), blind="none")


def test_a_server_gets_no_picture(tmp_path: Path) -> None:
    with serving(completion("top left")) as server:
        snellen.evaluate(
            "eyechart:tasks=positions,n=1",
            "openai/m",
            base_url=server.url,
            out=tmp_path,
            blind="none",
        )
        (body,) = [request.json for request in server.requests]
    assert "image_url" not in json.dumps(body)
    with serving(completion("top left")) as server:
        snellen.evaluate(
            "eyechart:tasks=positions,n=2",
            "openai/m",
            base_url=server.url,
            out=tmp_path,
            blind="blank",
        )
        urls = [
            part["image_url"]["url"]
            for request in server.requests
            for part in request.json["messages"][0]["content"]
            if part["type"] == "image_url"
        ]
    grey = base64.b64encode(Canvas(336, 336, (128, 128, 128)).png()).decode()
    assert [url.partition(",")[2] for url in urls] == [grey] * 2


# -- figures known beforehand


def probe(model: str, kind: Blind, out: Path, spec: str = POSITIONS) -> Result:
    result = snellen.evaluate(spec, model, blind=kind, out=out)
    assert result.report.probe is not None
    return result


@pytest.mark.parametrize("kind", ["none", "blank"])
def test_a_reader_that_sees_nothing_says_nothing(tmp_path: Path, kind: Blind) -> None:
    sighted = snellen.evaluate(POSITIONS, "baseline/reader", out=tmp_path)
    result = probe("baseline/reader", kind, tmp_path)
    assert (sighted.headline.value, result.headline.value) == (1.0, 0.0)
    report = result.report.probe
    assert report is not None
    # One of four is right by chance.
    assert report.metrics["leakage of accuracy"].value == pytest.approx(-0.25)
    assert report.counts == {"right": 0, "scored": 24}


def test_a_reader_answers_about_the_picture_that_it_is_shown(tmp_path: Path) -> None:
    """It is right where the other picture's square happens to be in the same quarter."""
    benchmark = probed(registry.benchmark(POSITIONS), blind="other")
    plain = messages_sent(registry.benchmark(POSITIONS))
    targets = {s.id: s.target for s in map(benchmark.read, benchmark.data)}
    whose = {str(digests(messages)): name for name, messages in plain.items()}
    alike = sum(
        targets[name] == targets[whose[str(digests(messages))]]
        for name, messages in messages_sent(benchmark).items()
    )
    result = probe("baseline/reader", "other", tmp_path)
    assert result.headline.value == pytest.approx(alike / 24)
    assert result.report.probe is not None
    assert result.report.probe.counts == {"right": alike, "scored": 24}


@pytest.mark.parametrize("kind", ["none", "blank", "other"])
def test_who_does_not_look_scores_the_same_blind(tmp_path: Path, kind: Blind) -> None:
    sighted = snellen.evaluate(POSITIONS, "baseline/first", out=tmp_path)
    blind = probe("baseline/first", kind, tmp_path)
    assert blind.headline.value == sighted.headline.value
    assert blind.run != sighted.run
    report = blind.report.probe
    assert report is not None and sighted.headline.value is not None
    leakage = report.metrics["leakage of accuracy"]
    assert leakage.value == pytest.approx(sighted.headline.value - 0.25)
    assert leakage.ci95 is not None and blind.headline.ci95 is not None
    assert leakage.ci95[0] == pytest.approx(blind.headline.ci95[0] - 0.25)


def test_leakage_is_not_known_where_chance_is_not(tmp_path: Path) -> None:
    result = probe("baseline/reader", "none", tmp_path, "eyechart:tasks=letters,n=12")
    assert result.report.probe is not None
    leakage = result.report.probe.metrics["leakage of accuracy"]
    assert leakage.value is None
    assert "not every question has choices" in (leakage.reason or "")


def test_the_identity_says_how_it_was_asked_and_only_then(tmp_path: Path) -> None:
    sighted = snellen.evaluate(POSITIONS, "baseline/first", out=tmp_path).report
    blind = probe("baseline/first", "other", tmp_path).report
    assert "probe" not in sighted.identity
    assert blind.identity == {**sighted.identity, "probe": {"blind": "other", "seed": 0}}
    assert any(note.startswith("blind: each question is asked with") for note in blind.notes)


def test_a_blind_run_goes_on_where_it_ended(tmp_path: Path) -> None:
    first = snellen.evaluate(POSITIONS, "baseline/first", blind="other", limit=5, out=tmp_path)
    complete = probe("baseline/first", "other", tmp_path)
    assert first.run == complete.run and complete.report.n == 24
    assert complete.run is not None
    stored = {
        question.key[0]: question.media[0].digest for question in Run(complete.run).questions()
    }
    benchmark = probed(registry.benchmark(POSITIONS), blind="other")
    assert stored == {
        name: digests(messages)[0] for name, messages in messages_sent(benchmark).items()
    }


# -- what cannot be


@pytest.mark.parametrize(
    "probes",
    [
        {"blind": "none", "permute_options": 2},
        {"blind": "none", "open_ended": True},
        {"permute_options": 2, "open_ended": True},
    ],
)
def test_one_probe_a_run(probes: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="a run can have only one probe"):
        probed(eyechart(), **probes)


def test_an_unknown_kind_is_wrong_use() -> None:
    with pytest.raises(
        UsageError, match=f"--blind must be one of {', '.join(get_args(Blind))}, not 'black'"
    ):
        probed(eyechart(), blind="black")


def test_probes_ask_questions_alone(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Leave out --shots"):
        snellen.evaluate(
            str(shots_file(tmp_path)), "baseline/first", shots=1, blind="none", out=tmp_path
        )


def shots_file(folder: Path) -> Path:
    mine(
        folder,
        *(
            {"image": picture(folder, f"{n}.png", 8 + n), "question": f"What is {n}?"}
            for n in range(8)
        ),
    )
    return folder / "mine.jsonl"


def eyechart() -> Benchmark:
    return registry.benchmark("eyechart:n=20")
