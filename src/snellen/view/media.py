"""Reloads the pictures and frames that a model was shown, from their original files.

Only pictures and videos that a run's questions name can be requested. A picture or video is shown
only if its digest matches the stored digest. No other file on this machine can be requested.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from snellen import registry
from snellen.core.benchmark import Benchmark
from snellen.core.sample import Sample
from snellen.data import rows_at
from snellen.errors import DataError, MediaError, SnellenError
from snellen.media import images, video
from snellen.media.content import Image, Video
from snellen.media.views import MAX_PIXELS, PictureView, rendered
from snellen.store import ExcerptFields, Question, ShownMedia, data_path, is_object_run
from snellen.transforms.probes import again
from snellen.view.runs import Listed

HELD = 48 << 20
"""The size of the cache in bytes. The cache keeps a page's pictures from being read twice."""


class Media:
    """Loads and caches the media of all runs."""

    def __init__(self, benchmarks: Sequence[str | Benchmark] = ()) -> None:
        self._benchmarks = benchmarks
        self._sources: dict[tuple[Path, int], Benchmark] = {}
        self._kept: OrderedDict[tuple[Any, ...], Image] = OrderedDict()
        self._opened: tuple[tuple[Path, str | None], video.Streamed] | None = None
        self._lock = threading.Lock()
        self._decoding = threading.Lock()

    def image(self, run: Listed, question: Question, number: int, side: int | None) -> Image:
        """The picture at the index `number` in the question's media. `side` is the maximum length
        of the picture's longer side.

        Raises:
            MediaError: the picture is gone or has changed, or the file is a video.
        """
        shown = question.media[number]
        if shown.kind != "image":
            raise MediaError(f"{shown.place} is a video. Request its frames instead.")
        if shown.digest is None:
            raise MediaError(f"{shown.place} could not be read during the run.")
        key = (shown.digest, side)
        if (kept := self._held(key)) is not None:
            return kept
        picture = self._find(run, question, number)
        if side is not None:
            picture = images.smaller(picture, max_side=side)
        return self._keep(key, picture)

    def frame(self, run: Listed, question: Question, number: int, time: float) -> Image:
        """The frame of a video at a media time in seconds, in the size in which the frame was sent.

        Raises:
            MediaError: the video is gone, has changed, or cannot be decoded, or the file is a
                picture.
        """
        shown = question.media[number]
        if shown.kind != "video":
            raise MediaError(f"{shown.place} is a picture.")
        key = (shown.digest, shown.place, run.path, time)
        if (kept := self._held(key)) is not None:
            return kept
        with self._decoding:
            streamed = self._streamed(run, question, number)
            times = streamed.facts.times
            index = min(bisect_left(times, time - 1e-3), len(times) - 1)
            look = video.policy(shown.policy or video.DEFAULT)
            frames = [frame for _, frame in streamed.frames([index], look)]
        return self._keep(key, frames[0].image)

    # -- inside

    def _held(self, key: tuple[Any, ...]) -> Image | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _keep(self, key: tuple[Any, ...], image: Image) -> Image:
        with self._lock:
            self._kept[key] = image
            while (
                sum(_size(picture) for picture in self._kept.values()) > HELD
                and len(self._kept) > 1
            ):
                self._kept.popitem(last=False)
        return image

    def _find(self, run: Listed, question: Question, number: int) -> Image:
        shown = question.media[number]
        excerpt = shown.excerpt
        others = 0
        for part in self._parts(run, question, number):
            if isinstance(part, Image):
                image = images.load(part)
                if excerpt is not None and image.digest == excerpt.of:
                    image = _cut(image, excerpt, shown)
                if image.digest == shown.digest:
                    return image
                others += 1
        if _is_result(question, number):
            raise MediaError(
                f"{shown.place} was made by a tool or by the model. The run stores the digest and "
                "the size of such a picture, but not its pixels."
            )
        raise _gone(run, shown.place, others)

    def _streamed(self, run: Listed, question: Question, number: int) -> video.Streamed:
        shown = question.media[number]
        others = 0
        for part in self._parts(run, question, number):
            if not isinstance(part, Video) or part.label != shown.place:
                continue
            source = (part.source, shown.digest)
            if self._opened is not None and self._opened[0] == source:
                return self._opened[1]
            clip = video.load(part)
            if shown.digest in (None, clip.digest):
                if self._opened is not None:
                    self._opened[1].close()
                    self._opened = None
                self._opened = (source, video.Streamed(clip))
                return self._opened[1]
            others += 1
        raise _gone(run, shown.place, others)

    def _parts(self, run: Listed, question: Question, number: int) -> Iterator[Image | Video]:
        """Yield the pictures and videos that may be the requested one: first the one at the index
        `number` in the sample's media, then all of the sample's media, then the media that only the
        prompt contains."""
        try:
            benchmark = self._benchmark(run)
            sample = next(benchmark.read(row) for row in rows_at(benchmark.data, [question.place]))
            yield from sample.media[number : number + 1]
            yield from sample.media
            yield from _prompted(benchmark, sample)
        except MediaError:
            raise
        except (SnellenError, LookupError, TypeError, AttributeError, ValueError, OSError) as error:
            raise MediaError(
                f"{question.media[number].place} could not be loaded again: {error}"
            ) from error

    def _benchmark(self, run: Listed) -> Benchmark:
        key = (run.path, run.stored)
        with self._lock:
            if (known := self._sources.get(key)) is None:
                probe = run.identity.get("probe", {})
                known = self._sources[key] = self._rebuild(run.manifest, probe)
            return known

    def _rebuild(self, manifest: Mapping[str, Any], probe: Mapping[str, Any]) -> Benchmark:
        own = registry.supplied(self._benchmarks, manifest, data=_own_data(manifest))
        if own is None:
            return again(_unprobed(manifest), probe)
        return own if own.provenance.probe == probe else again(own, probe)


def _cut(image: Image, excerpt: ExcerptFields, shown: ShownMedia) -> Image:
    """The part of a picture that a tool showed. The tool may have scaled the part up."""
    view = PictureView(
        source=image, box=excerpt.box, turns=excerpt.turns, has_grid=excerpt.has_grid
    )
    cut = rendered(view)
    if cut.size is None or shown.width is None or shown.height is None:
        return cut
    if shown.width * shown.height > MAX_PIXELS:  # a stored line may contain any number
        return cut
    # `images.larger` rounds both sides up. It returns the size that was shown for numbers of pixels
    # between these two.
    ratio = cut.size[0] / cut.size[1]
    least = max((shown.width - 1) ** 2 / ratio, (shown.height - 1) ** 2 * ratio)
    most = min(shown.width**2 / ratio, shown.height**2 * ratio)
    return images.larger(cut, min_pixels=round((least + most) / 2))


def _is_result(question: Question, number: int) -> bool:
    """Whether a picture is in the result of a tool call."""
    return any(role == "tool" and number in parts for role, parts in question.messages)


def _prompted(benchmark: Benchmark, sample: Sample) -> Iterator[Image | Video]:
    for turn in benchmark.turn_samples(sample)[:1]:
        request = benchmark.request(
            turn if benchmark.procedure.conversation.by_turn is None else sample
        )
        for message in () if request is None else request.messages:
            for part in message.content:
                if not isinstance(part, str):
                    yield part


def _unprobed(manifest: Mapping[str, Any]) -> Benchmark:
    """Load the benchmark of a run, with the rows but without the run's probe.

    Raises:
        SnellenError: the benchmark no longer exists, or loading the benchmark would run code that
            the run names.
    """
    options = manifest["identity"]["options"]
    name, where = manifest["benchmark"], data_path(manifest["data"])
    if (spec := manifest.get("benchmark_source", {}).get("spec")) and is_object_run(manifest):
        raise DataError(
            f"its rows are read by {spec}, and the viewer does not run code just because a run "
            f"names it. If you trust the code, pass it: snellen view -b {spec}"
        )
    if is_object_run(manifest):
        raise DataError(
            "its rows come from a Python object, which cannot be rebuilt from the run's manifest."
        )
    if "toolkit" in options:
        spec = f"{options['toolkit']}:{options['dataset']}"
        raise DataError(
            f"its rows are read by the code of {spec}, and the viewer does not run code just "
            "because a run names it. If you trust the code, pass it: snellen view -b "
            f"{spec} --run-toolkit-code"
        )
    if registry.runs_a_program(manifest):
        raise DataError(
            "its rows are read by a custom class, and the viewer does not run such code."
        )
    if {"task", "columns"} <= set(options):
        columns = {column: kind for kind, here in options["columns"].items() for column in here}
        return registry.own(where.absolute(), _folder(manifest), options["task"], columns, {})
    if "benchmark_source" in manifest:
        unprobed = {**manifest["identity"], "probe": {}}
        return registry.of_run({**manifest, "identity": unprobed}, data=_own_data(manifest))
    if name not in _names():
        raise DataError(f"this version of Snellen has no benchmark {name}.")
    return registry.benchmark(name, data=where if where.exists() else None, options=options)


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    return frozenset(entry.name for entry in registry.entries())


def _folder(manifest: Mapping[str, Any]) -> Path | None:
    """The value of --data in the run's last command."""
    command = manifest["sessions"][-1]["command"] if manifest.get("sessions") else []
    for flag, value in pairwise(command):
        if flag == "--data":
            return data_path(value)
    return None


def _own_data(manifest: Mapping[str, Any]) -> Path | None:
    """The data path that the run passed to the function of a plug-in or of the user's file."""
    data = manifest.get("benchmark_source", {}).get("data")
    return None if data is None else data_path(data)


def _gone(run: Listed, label: str, others: int) -> MediaError:
    where = run.manifest.get("data", "")
    if others:
        return MediaError(
            f"{label} is no longer the picture that was sent: the data in {where} have changed "
            "since the run. Restore the old data to see the picture."
        )
    return MediaError(f"{label} is no longer among the media in {where}.")


def _size(image: Image) -> int:
    return len(image.source) if isinstance(image.source, bytes) else 0
