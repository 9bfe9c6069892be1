"""Videos that are sent as files, so that the server decodes them and picks the frames."""

from __future__ import annotations

from pybase64 import b64encode

from snellen.core.profile import Profile
from snellen.errors import MediaError, Rejected, UsageError
from snellen.media import video as videos
from snellen.media.content import Video
from snellen.media.layout import has_texts
from snellen.models.service import Encoded

OPTION = "native_video"
"""The option in a profile's `extra` with which videos are sent as files."""
TYPES = {
    ".mp4": "video/mp4",
    ".mpeg": "video/mpeg",
    ".mpg": "video/mpg",
    ".mov": "video/mov",
    ".avi": "video/avi",
    ".flv": "video/x-flv",
    ".webm": "video/webm",
    ".wmv": "video/wmv",
    ".3gp": "video/3gpp",
}
"""The media type of each ending that Gemini accepts."""
OTHER_TYPES = {**TYPES, ".mov": "video/quicktime", ".mkv": "video/x-matroska"}
MOST_BYTES = 512_000_000
"""The maximum size of a file in a request to a compatible server, in bytes."""


def sends_files(model: str, profile: Profile) -> bool:
    """Whether a profile sends videos as files.

    Raises:
        UsageError: the option is neither true nor false.
    """
    chosen = profile.extra.get(OPTION, False)
    if not isinstance(chosen, bool):
        raise UsageError(f"{model}: `{OPTION}` in the profile's `extra` must be true or false.")
    return chosen


def read_file(video: Video, most: int, receiver: str) -> bytes:
    """Read a video's file.

    Raises:
        Rejected: the file cannot be read, is too large, or has texts between its frames.
    """
    where = video.label or str(video.source)
    if has_texts(video):
        raise Rejected(
            f"{where}: texts between the frames of a video, such as stamps and subtitles, need its "
            f"frames. Remove {OPTION} from the profile's `extra`, or ask without these texts.",
            hopeless=True,
        )
    try:
        path = videos.load(video).source
        size = path.stat().st_size
        data = path.read_bytes() if size <= most else None
    except MediaError as error:
        raise Rejected(str(error)) from error
    except OSError as error:
        raise Rejected(f"{where} cannot be read: {error.strerror}.") from error
    if data is None:
        raise Rejected(
            f"{where} has {size / 1e6:,.0f} MB, but a file in a request to {receiver} can have at "
            f"most {most / 1e6:.0f} MB. Remove {OPTION} to send its frames instead."
        )
    return data


def data_url(video: Video) -> Encoded:
    """The `data:` URL of a whole video, for servers that accept the part `video_url`.

    Raises:
        Rejected: as in `read_file`, the type of the file is not known, or only a part of the video
            may be seen.
    """
    where = video.label or str(video.source)
    if video.start or video.end is not None:
        raise Rejected(
            f"{where}: the question is about a part of the video, but the server would see all of "
            f"it. Remove {OPTION} from the profile's `extra` to send frames instead.",
            hopeless=True,
        )
    mime = OTHER_TYPES.get(video.source.suffix.lower())
    if mime is None:
        raise Rejected(
            f"{where}: only these videos can be sent as files: {', '.join(OTHER_TYPES)}."
        )
    data = read_file(video, MOST_BYTES, "the server")
    return Encoded((f"data:{mime};base64,".encode(), b64encode(data)))
