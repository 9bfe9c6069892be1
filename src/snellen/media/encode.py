"""Encodes frames that Snellen draws, and writes them as video files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.errors import DataError, UsageError, install

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OPTIONS = {
    "preset": "ultrafast",  # slower presets would not make files of flat pictures smaller
    "crf": "18",
    # Without this, x264's output depends on the processor, and is random with other presets.
    "x264-params": "cpu-independent=1",
}


def mp4(path: Path, frames: Iterable[NDArray[np.uint8]], *, fps: Fraction) -> None:
    """Write frames to an MP4 file as H.264.

    Frames are (height, width, 3), RGB. Frame k is shown from k / `fps` seconds on. On one machine,
    the same frames always give the same file, but other versions of x264 may give different bytes.
    An existing file is replaced only if writing succeeds.

    Raises:
        DataError: The file cannot be written.
        UsageError: PyAV is not installed.
        ValueError: There are no frames, the width or height is odd, or the frames differ in size.
    """
    data = _encoded(path, frames, fps)
    # The name has the process id, since two processes may draw the same video at the same time.
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        try:
            part.write_bytes(data)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from error


def _encoded(path: Path, frames: Iterable[NDArray[np.uint8]], fps: Fraction) -> bytes:
    try:
        import av
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{path}: an extra is needed to write videos: {install('video')}."
        ) from error
    size: tuple[int, ...] | None = None
    file = BytesIO()
    with av.open(file, "w", format="mp4", options={"fflags": "bitexact"}) as container:
        stream = container.add_stream("libx264", rate=fps, options=dict(OPTIONS))
        stream.codec_context.thread_count = 1  # more threads would change the bytes
        for number, pixels in enumerate(frames):
            if size is None:
                size = pixels.shape
                stream.height, stream.width, _ = size
                if stream.height % 2 or stream.width % 2:
                    raise ValueError(f"width and height must be even: the shape is {size}")
            if pixels.shape != size:
                raise ValueError(
                    f"frame {number} has the shape {pixels.shape}, but the first frame has {size}"
                )
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame.pts, frame.time_base = number, 1 / fps
            container.mux(stream.encode(frame))
        if size is None:
            raise ValueError("a video needs at least one frame")
        container.mux(stream.encode(None))
    return file.getvalue()
