"""Creates the requests of samples and reads their media."""

from __future__ import annotations

import asyncio

from snellen.core.benchmark import Benchmark, History
from snellen.core.layout import is_timed, with_times
from snellen.core.model import Model, Prompts, Request, has_addresses, loaded
from snellen.core.sample import Sample
from snellen.errors import DataError, MediaError, ModelError
from snellen.media.content import Video
from snellen.run.addresses import fetched
from snellen.run.clips import Clips, VideoDecoding, videos_of
from snellen.run.group import Group
from snellen.run.model_calls import own_prompt
from snellen.run.recorder import Prepared
from snellen.run.settings import Settings


class Requests:
    """Creates the requests for one benchmark and one model."""

    def __init__(
        self, benchmark: Benchmark, model: Model, settings: Settings, decoding: VideoDecoding
    ) -> None:
        self._benchmark = benchmark
        # A model may decode videos itself, or ignore them.
        self._shows_frames = getattr(model, "wants_frames", True)
        self._settings = settings
        self._decoding = decoding
        self._reword = (
            model.prompted if isinstance(model, Prompts) and own_prompt(benchmark, model) else None
        )

    def request(self, sample: Sample, history: History, repeat: int) -> Request | None:
        """Create a sample's next request, without reading its media; None if there is no further
        turn."""
        return self._benchmark.request(
            sample, history, generation=self._settings.generation, seed=self.seed(repeat)
        )

    def seed(self, repeat: int) -> int | None:
        if repeat:
            return (self._settings.seed or 0) + repeat
        return self._settings.seed

    def first_videos(self, group: Group) -> dict[str, list[Video]]:
        """The videos of a group's first turns, keyed by sample id."""
        return {
            sample.id: videos_of(request)
            for _, sample in group.samples
            if any(isinstance(medium, Video) for medium in sample.media)
            and (request := self.request(sample, (), 0)) is not None
        }

    def start_decoding(self, group: Group) -> None:
        """Start decoding the videos of a group's first turns."""
        videos = self.first_videos(group) if self._shows_frames else {}
        if any(videos.values()):
            group.clips = Clips(videos, len(group.repeats), self._decoding)

    async def prepare(self, sample: Sample, worded: Request, group: Group) -> Prepared:
        """Read the media of a sample's request, and apply the model's own prompt if the model has
        one.

        Raises:
            DataError: the request has URLs, and fetching is not allowed.
        """
        request = shown = worded
        try:
            if self._shows_frames and videos_of(worded):
                shown = await group.with_frames(worded, sample, self._decoding)
            if is_timed(shown):
                loop = asyncio.get_running_loop()
                shown = await loop.run_in_executor(None, with_times, shown)
            request = shown = loaded(await self._fetch(shown))
            if self._reword is not None:
                request = loaded(await self._fetch(await self._reword(shown)))
        except (MediaError, ModelError) as error:
            return Prepared(worded=worded, shown=shown, request=shown, error=error)
        return Prepared(worded=worded, shown=shown, request=request)

    async def prepare_session(self, worded: Request) -> Prepared:
        """Read the media of a session's question in a thread. Only the digests of the media are
        stored, and the session gets only the frames.

        Raises:
            DataError: the request has URLs, and fetching is not allowed.
        """
        shown = worded
        loop = asyncio.get_running_loop()
        try:
            shown = await self._fetch(worded)
            shown = await loop.run_in_executor(self._decoding.threads, loaded, shown)
        except MediaError as error:
            return Prepared(worded=worded, shown=shown, request=shown, error=error)
        return Prepared(worded=worded, shown=shown, request=shown)

    def read_if_possible(self, worded: Request) -> Prepared:
        """Read the media of a request that already has a reply, if the media can still be read."""
        try:
            shown = loaded(with_times(worded))
        except MediaError:
            shown = worded
        return Prepared(worded=worded, shown=shown, request=shown)

    async def _fetch(self, request: Request) -> Request:
        """Fetch those pictures of a request that have URLs.

        Raises:
            MediaError: a picture cannot be fetched. DataError: the user has not allowed fetching.
                This error ends the run, since all other questions with URLs would fail too.
        """
        if not has_addresses(request):
            return request
        if not self._settings.allow_urls:
            try:
                return loaded(request)
            except MediaError as error:
                raise DataError(str(error)) from None
        return await fetched(request)
