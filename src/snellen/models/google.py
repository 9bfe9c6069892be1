"""Google's Gemini API (generateContent), and other servers that implement this API.

The model accepts text and images in any order, and several turns. A system message must come first.
Images (JPEG, PNG, WebP) are sent in base64 at their position in the message, with their bytes
unchanged. A GIF is converted to PNG. A video is sent as one image per frame.

Tools are sent as function declarations. The result of a call is text. Parts with a signature of the
model's thoughts are sent back with the calls that follow them.

With `native_video = true` in the profile's `extra`, the whole video file is sent instead, with the
start and end of the visible part in seconds. Snellen then decodes no frames. The service samples
frames at a fixed rate, so the frame policy must be `fps:RATE`, with a rate of at most 24. Other
policies are rejected. The model also gets the sound in the file. A request can have at most 100 MB,
so a file can have at most 75 MB.

The rest of `extra` is merged into the request and overrides Snellen's own fields. If a field in
`extra` is None, it is not sent. `generationConfig` is merged into Snellen's own `generationConfig`.
Example: `generationConfig = { thinkingConfig = { thinkingBudget = 0, includeThoughts = true } }`.

Sources of fields and errors: googleapis/python-genai@6680718: google/genai/types.py (FinishReason,
GenerateContentResponse, VideoMetadata), models.py; the service's pages Troubleshooting, Image
understanding and Video understanding; google.rpc.ErrorInfo, RetryInfo, QuotaFailure.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import quote as quoted

from pybase64 import b64encode

from snellen.core.model import Reply, Request, Usage
from snellen.core.profile import Profile
from snellen.core.tools import ToolSpec
from snellen.errors import Overloaded, Rejected, UsageError
from snellen.media import video as videos
from snellen.media.content import Message, ToolCall, Video
from snellen.models.parts import parts_of
from snellen.models.service import (
    Encoded,
    OnServer,
    Service,
    are_objects,
    body_of,
    count,
    encoded,
    is_optional,
    objects,
    service,
    string,
    system_apart,
    times,
    total,
    words_of,
)
from snellen.models.tool_calls import (
    continuation,
    continued,
    sent_arguments,
    sent_name,
    tool_call,
)
from snellen.models.video_file import OPTION, TYPES, read_file, sends_files
from snellen.transport import Response

IMAGES = ("image/jpeg", "image/png", "image/webp")
MOST_BYTES = 75_000_000
"""The maximum size of a video file, in bytes. In base64, a file of this size fills a whole
request."""
MOST_RATE = 24.0
ROLES = {"user": "user", "assistant": "model", "tool": "user"}
WITHHELD = (
    *("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
    *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"),
)
SIGNATURE = "thoughtSignature"
SILENT = {"text", "thought", SIGNATURE, "partMetadata"}
"""Fields of a part that contain text or nothing."""
WRONG_CALLS = {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"}
"""Finish reasons of replies in which the model tried to call a tool."""
STOPS = {"MAX_TOKENS": "length", **dict.fromkeys(WITHHELD, "filter")}


def open_model(name: str, *, profile: Profile, api_key: str | None) -> Google:
    """Open the model `name` on the profile's server.

    Raises:
        UsageError: a field in the profile's `extra` that Snellen uses has the wrong type.
    """
    if not isinstance(profile.extra.get("generationConfig", {}), dict):
        raise UsageError(
            f"google/{name}: `generationConfig` in the profile's `extra` must be a table."
        )
    native_video = sends_files(f"google/{name}", profile)
    model_path = name if name.startswith(("models/", "tunedModels/")) else f"models/{name}"
    how = "streamGenerateContent" if profile.stream else "generateContent"
    there = service(
        name,
        profile=profile,
        api_key=api_key,
        path=f"{quoted(model_path)}:{how}",
        variable="GEMINI_API_KEY",
        key_header="x-goog-api-key",
        version="/v1beta",
    )
    return Google(there, native_video=native_video)


class Google(OnServer):
    """A model behind the generateContent API. With `native_video`, the model needs no decoded
    frames."""

    what = "a reply of Gemini's"
    calls = "functionCall"

    def __init__(self, there: Service, *, native_video: bool = False) -> None:
        super().__init__(there)
        self.wants_frames = not native_video
        if there.stream:
            self._path = f"{there.path}?alt=sse"

    # -- there

    async def _encoded(self, request: Request) -> bytes:
        if self.wants_frames:
            return self._body(request)
        # Reading and encoding large files must not block other requests.
        return await asyncio.to_thread(self._body, request)

    def _body(self, request: Request) -> bytes:
        generation = request.generation
        system, turns = system_apart(request.messages)
        settings: dict[str, Any] = {
            "maxOutputTokens": generation.max_tokens,
            "temperature": generation.temperature,
            "topP": generation.top_p,
            "seed": request.seed,
            "stopSequences": list(request.stop) or None,
        }
        extra = {**generation.extra}
        extra.pop(OPTION, None)
        settings |= cast("dict[str, Any]", extra.pop("generationConfig", {}))
        settings = {name: value for name, value in settings.items() if value is not None}
        body: dict[str, Any] = {
            "systemInstruction": {"parts": [{"text": system}]} if system else None,
            "contents": self._contents(turns),
            "tools": [{"functionDeclarations": [_function(tool) for tool in request.tools]}]
            if request.tools
            else None,
            "generationConfig": settings or None,
        }
        return body_of({**body, **extra})

    def _contents(self, turns: Sequence[Message]) -> list[dict[str, Any]]:
        """Convert the turns. The results of the calls of one turn are one turn of the user."""
        contents: list[dict[str, Any]] = []
        calls: dict[str, ToolCall] = {}
        for i, turn in enumerate(turns):
            calls |= {call.id: call for call in turn.tool_calls}
            parts = [_result(turn, calls)] if turn.role == "tool" else self._parts(turn)
            if turn.role == "tool" and i and turns[i - 1].role == "tool":
                contents[-1]["parts"] += parts
            else:
                contents.append({"role": ROLES[turn.role], "parts": parts})
        return contents

    def _parts(self, message: Message) -> list[dict[str, Any]]:
        if message.continuation is not None:
            return list(continued(message))
        parts = self._media_parts(message)
        return [*parts, *({"functionCall": _call(call)} for call in message.tool_calls)]

    def _media_parts(self, message: Message) -> list[dict[str, Any]]:
        return parts_of(
            message,
            lambda text: {"text": text},
            lambda image: _inline(*encoded(image, takes=IMAGES)),
            video=None if self.wants_frames else _file,
        )

    # -- and back

    def _error(
        self, status: int, error: Mapping[str, Any], response: Response
    ) -> Overloaded | Rejected:
        details = objects(error.get("details"))
        reasons = [string(detail.get("reason")) or "" for detail in details]
        # If a daily quota is exhausted, a retry will not help, even if the service suggests one.
        quotas = [quota for detail in details for quota in objects(detail.get("violations"))]
        is_daily_quota = any("PerDay" in (string(quota.get("quotaId")) or "") for quota in quotas)
        words = self._there.transport.redact(words_of(error, response.body))
        if status == 429 and is_daily_quota:
            return Rejected(f"{self._there.transport.where}: 429: {words}", hopeless=True)
        return self._there.error(
            status,
            words,
            wait=_wait(details) if response.retry_after is None else response.retry_after,
            is_wrong_key=any(reason.startswith("API_KEY_") for reason in reasons),
            # The service is not available for this account, or in the country of the request.
            is_hopeless=status == 403 or error.get("status") == "FAILED_PRECONDITION",
        )

    def _streamed(self, response: Response) -> Reply:
        """Assemble the reply from a stream of chunks. The stream is complete only if a chunk
        contains a finish reason or states that the prompt was blocked."""
        parts: list[dict[str, Any]] = []
        stop = usage = blocked = first = words = None
        others: set[str] = set()
        for event in response.events:
            chunk = self._there.json(event.data, "a chunk of a reply of Gemini's")
            if isinstance(error := chunk.get("error"), dict):
                raise self._error(count(error, "code") or 500, error, response)
            usage = chunk.get("usageMetadata") or usage
            blocked = chunk.get("promptFeedback") or blocked
            if not _are_candidates(chunk.get("candidates")):
                raise self._there.unreadable("not a chunk of a Gemini reply", event.data)
            for candidate in objects(chunk.get("candidates"))[:1]:
                stop = candidate.get("finishReason") or stop
                words = candidate.get("finishMessage") or words
                others |= _others(candidate)
                parts += _parts_of(candidate)
            first = event.at if first is None and parts else first
        if stop is None and not _is_blocked(blocked):
            raise self._there.cut()
        parts += [{name: None} for name in others]
        candidate = {"content": {"parts": parts}, "finishReason": stop, "finishMessage": words}
        body = {"candidates": [candidate], "usageMetadata": usage, "promptFeedback": blocked}
        return self._reply(body, response, first)

    def _reply(
        self, body: Mapping[str, Any], response: Response, first: float | None = None
    ) -> Reply:
        if not _are_candidates(body.get("candidates")):
            raise self._there.unreadable("not a reply of Gemini's", response.body)
        candidate = next(iter(objects(body.get("candidates"))), {})
        is_blocked = _is_blocked(body.get("promptFeedback"))
        parts = _parts_of(candidate)
        stop = string(candidate.get("finishReason"))
        if not (parts or stop or is_blocked):  # without a finish reason, the reply has not ended
            raise self._there.unreadable("not a reply of Gemini's", response.body)
        text = "".join(part.get("text") or "" for part in parts if not part.get("thought"))
        thoughts = "".join(part.get("text") or "" for part in parts if part.get("thought"))
        calls = _calls(parts)
        if stop in WRONG_CALLS:
            words = string(candidate.get("finishMessage")) or stop
            calls = (*calls, tool_call(len(calls), None, None, words))
        others = _others(candidate) - {self.calls}
        if not (text or calls or is_blocked) and others:
            raise self._there.without_text(others)
        return Reply(
            text=text,
            reasoning=thoughts or None,
            stop="filter" if is_blocked else STOPS.get(stop, stop) if stop else None,
            usage=_usage(body.get("usageMetadata")),
            times=times(response, first),
            tool_calls=calls,
            continuation=continuation(_returned(parts)) if _is_signed(parts, calls) else None,
        )


def _function(tool: ToolSpec) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": tool.parameters,
    }


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "name": sent_name(call), "args": sent_arguments(call)}


def _result(message: Message, calls: Mapping[str, ToolCall]) -> dict[str, Any]:
    """Return the result of a call, which has the name of the tool."""
    call = calls.get(message.call_id or "")
    name = "unknown" if call is None else sent_name(call)
    result = {"id": message.call_id, "name": name, "response": {"result": message.text}}
    return {"functionResponse": result}


def _calls(parts: Sequence[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    """Return the calls in the parts of a candidate."""
    functions = objects([part.get("functionCall") for part in parts])
    return tuple(
        tool_call(number, function.get("id"), function.get("name"), function.get("args"))
        for number, function in enumerate(functions)
    )


def _is_signed(parts: Sequence[Mapping[str, Any]], calls: Sequence[ToolCall]) -> bool:
    """Return whether a candidate calls tools and has signatures, which must then be sent back."""
    return bool(calls) and any(SIGNATURE in part for part in parts)


def _returned(parts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the parts of a candidate as they are sent back."""
    numbered = iter(_calls(parts))
    return [
        {**part, "functionCall": _call(next(numbered))} if "functionCall" in part else {**part}
        for part in parts
    ]


def _inline(mime: str, data: bytes) -> dict[str, Any]:
    return {"inlineData": {"mimeType": mime, "data": Encoded((data,))}}


def _file(video: Video) -> dict[str, Any]:
    """Return the part of a request with the whole video file, the start and end of the visible
    part, and the frame rate.

    Raises:
        Rejected: the service does not accept the file or the frame policy.
    """
    where = video.label or str(video.source)
    mime = TYPES.get(video.source.suffix.lower())
    if mime is None:
        raise Rejected(
            f"{where}: Gemini does not accept this type of video. It accepts {', '.join(TYPES)}."
        )
    seen = {
        "startOffset": _seconds(video.start) if video.start else None,
        "endOffset": None if video.end is None else _seconds(video.end),
        "fps": _rate(video),
    }
    data = read_file(video, MOST_BYTES, "Gemini")
    seen = {name: value for name, value in seen.items() if value is not None}
    return {**_inline(mime, b64encode(data)), **({"videoMetadata": seen} if seen else {})}


def _rate(video: Video) -> float | None:
    """Return the frame rate that the video's policy sets, or None if the video has no policy."""
    if video.policy is None:
        return None
    policy = videos.policy(video.policy)
    if (
        policy.rate is None
        or policy.rate > MOST_RATE
        or policy != videos.policy(f"fps:{policy.rate}")
    ):
        raise Rejected(
            f"{OPTION}: Gemini samples a video at a rate of at most {MOST_RATE:g} frames per "
            f"second, not by {policy}. Use --frames fps:1, for example.",
            hopeless=True,
        )
    return policy.rate


def _seconds(value: float) -> str:
    """Format seconds as a google.protobuf.Duration in JSON, with at most nine decimal places."""
    return f"{value:.9f}".rstrip("0").rstrip(".") + "s"


def _wait(details: list[dict[str, Any]]) -> float | None:
    """Return the number of seconds to wait according to a RetryInfo, or None if there is no
    RetryInfo."""
    for detail in details:
        number = (string(detail.get("retryDelay")) or "").removesuffix("s")
        if number.replace(".", "", 1).isdecimal():
            return float(number)
    return None


def _is_blocked(feedback: object) -> bool:
    """Return whether the service withheld the prompt from the model."""
    return isinstance(feedback, dict) and bool(feedback.get("blockReason"))


def _are_candidates(candidates: object) -> bool:
    """Return whether each candidate's content is an object with a list of parts, and the text of
    each part is a string."""
    if not are_objects(candidates):
        return False
    contents = [candidate.get("content") for candidate in objects(candidates)]
    return all(content is None or _is_content(content) for content in contents)


def _is_content(content: object) -> bool:
    if not isinstance(content, dict) or not are_objects(content.get("parts")):
        return False
    return all(is_optional(part.get("text"), str) for part in objects(content.get("parts")))


def _others(candidate: Mapping[str, Any]) -> set[str]:
    """Return the kinds of content in a candidate that are neither text nor reasoning, such as tool
    calls and pictures."""
    parts = objects((candidate.get("content") or {}).get("parts"))
    return {name for part in parts for name in part} - SILENT


def _parts_of(candidate: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of a candidate that contain text or a call."""
    content = candidate.get("content")
    parts = objects(content.get("parts")) if isinstance(content, dict) else []
    return [
        part
        for part in parts
        if isinstance(part.get("text"), str) or isinstance(part.get("functionCall"), dict)
    ]


def _usage(usage: object) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    thoughts = count(usage, "thoughtsTokenCount")
    return Usage(
        input=count(usage, "promptTokenCount"),
        output=total(count(usage, "candidatesTokenCount"), thoughts),
        reasoning=thoughts,
        cached=count(usage, "cachedContentTokenCount"),
    )
