"""Any server that speaks OpenAI's chat completions: vLLM, SGLang, `transformers serve`, services.

Images go as `data:` addresses of exactly the bytes that were loaded, in the places where the
messages have them; a video goes as its frames, an image each.

A profile's `extra` is merged into the request and wins over our own fields. One that is None leaves
ours out; one named `max_completion_tokens` takes the place of `max_tokens`, since servers refuse to
get both.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import orjson
from pybase64 import b64encode

from snellen.content import Image, Message, Part
from snellen.errors import Overloaded, Rejected
from snellen.media import images
from snellen.model import Reply, Request, Times, Usage
from snellen.models._profile import Profile
from snellen.transport import Response, Transport

PATH = "chat/completions"
ASK_AGAIN = (408, 409, 425, 429)
OFFICIAL = "https://api.openai.com"
OFFICIAL_VARIABLE = "OPENAI_API_KEY"
QUOTED = 300
"""Characters of a server's words that are kept."""


def open_model(name: str, *, profile: Profile, api_key: str | None) -> OpenAI:
    """The model of that name on the profile's server."""
    assert profile.base_url is not None
    timeout = profile.timeout
    transport = Transport(
        profile.base_url,
        headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
        secrets=[api_key] if api_key else [],
        connect=timeout.connect,
        first=timeout.first,
        total=timeout.total,
    )
    variable = profile.api_key_env or (OFFICIAL_VARIABLE if api_key else None)
    return OpenAI(name, transport, key_variable=variable)


class OpenAI:
    """A model behind chat completions. `key_variable` is where its key came from, for messages."""

    def __init__(self, name: str, transport: Transport, *, key_variable: str | None = None) -> None:
        self.name = name
        self._transport = transport
        self._key_variable = key_variable
        # The official service's newer models refuse the old name, most other servers the new one.
        official = transport.where.startswith(OFFICIAL)
        self._most_tokens = "max_completion_tokens" if official else "max_tokens"

    async def generate(self, request: Request) -> Reply:
        """One reply.

        Raises:
            Overloaded, Rejected: as the server's status says; a body that is no chat completion is
                asked for again.
        """
        response = await self._transport.post(PATH, self._body(request))
        if response.status != 200:
            return self._refusal(response)
        return self._reply(response)

    async def close(self) -> None:
        await self._transport.close()

    # -- there

    def _body(self, request: Request) -> bytes:
        generation = request.generation
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [_message(message) for message in request.messages],
            self._most_tokens: generation.max_tokens,
            "temperature": generation.temperature,
            "top_p": generation.top_p,
            "seed": request.seed,
            "stop": list(request.stop) or None,
        }
        if "max_completion_tokens" in generation.extra:
            body.pop("max_tokens", None)
        body.update(generation.extra)
        return orjson.dumps({name: value for name, value in body.items() if value is not None})

    # -- and back

    def _refusal(self, response: Response) -> Reply:
        """What a status other than 200 means; only a content filter's gives a reply."""
        where, status = self._transport.where, response.status
        error = _error(response.body)
        code = error.get("code")
        if status == 400 and code == "content_filter":
            return Reply(text="", stop="filter", times=_times(response))
        message = _string(error.get("message"))
        words = " ".join(message.split())[:QUOTED] if message else _quote(response.body)
        if status == 402 or code == "insufficient_quota":
            raise Rejected(
                f"{where}: {status}: {_ended(words)} The account must be paid.", hopeless=True
            )
        if status in ASK_AGAIN or status >= 500:
            raise Overloaded(
                f"{where}: {status}: {words}",
                retry_after=response.retry_after,
                throttled=status == 429,
            )
        if status == 401:
            variable = self._key_variable
            hint = (
                f"Is the key in {variable} right?"
                if variable
                else "Name the variable that holds its key with --api-key-env."
            )
            raise Rejected(f"{where}: 401: {_ended(words)} {hint}", hopeless=True)
        if status == 404:
            raise Rejected(
                f"{where}: 404: {_ended(words)} Is {self.name!r} a model there, and does the "
                "address end where /chat/completions is to follow (mostly in /v1)?",
                hopeless=True,
            )
        raise Rejected(f"{where}: {status}: {words}")

    def _reply(self, response: Response) -> Reply:
        try:
            found = orjson.loads(response.body)
        except orjson.JSONDecodeError:
            raise self._unreadable("no JSON", response) from None
        try:
            choice = found["choices"][0]
            message = choice["message"]
        except (KeyError, IndexError, TypeError):
            raise self._unreadable("no chat completion", response) from None
        if not isinstance(message, dict):
            raise self._unreadable("no chat completion", response)
        text = _text(message.get("content"))
        stop = _string(choice.get("finish_reason"))
        if stop == "content_filter" or (message.get("refusal") and not text):
            stop = "filter"
        reasoning = _string(message.get("reasoning_content")) or _string(message.get("reasoning"))
        return Reply(
            text=text,
            reasoning=reasoning,
            stop=stop,
            usage=_usage(found.get("usage")),
            times=_times(response),
        )

    def _unreadable(self, what: str, response: Response) -> Overloaded:
        return Overloaded(
            f"{self._transport.where}: the reply is {what}, but {_quote(response.body)}"
        )


def _message(message: Message) -> dict[str, Any]:
    if all(isinstance(part, str) for part in message.content):
        return {"role": message.role, "content": message.text}
    return {"role": message.role, "content": [*chain.from_iterable(map(_parts, message.content))]}


def _parts(part: Part) -> Sequence[dict[str, Any]]:
    """A part as the server takes it; a video as its frames, an image each."""
    if isinstance(part, str):
        return ({"type": "text", "text": part},)
    if isinstance(part, Image):
        return (_image(part),)
    if not part.frames:
        raise Rejected(f"{part.place or part.source}: no frames of it were decoded to be sent.")
    return [_image(frame.image) for frame in part.frames]


def _image(image: Image) -> dict[str, Any]:
    image = images.load(image)
    assert isinstance(image.source, bytes)
    head = orjson.dumps(f"data:{image.mime};base64,")[:-1]
    # Base64 needs no escapes: as a fragment it is not decoded, searched and encoded once more.
    url = orjson.Fragment(b"".join((head, b64encode(image.source), b'"')))
    return {"type": "image_url", "image_url": {"url": url}}


def _text(content: object) -> str:
    """A message's text, also where it comes in parts."""
    if not isinstance(content, list):
        return _string(content) or ""
    texts = [_string(part.get("text")) for part in content if isinstance(part, dict)]
    return "".join(text for text in texts if text)


def _usage(usage: object) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    return Usage(
        input=_count(usage, "prompt_tokens"),
        output=_count(usage, "completion_tokens"),
        reasoning=_count(usage.get("completion_tokens_details"), "reasoning_tokens"),
        cached=_count(usage.get("prompt_tokens_details"), "cached_tokens"),
    )


def _count(counts: object, name: str) -> int | None:
    found = counts.get(name) if isinstance(counts, dict) else None
    return found if isinstance(found, int) else None


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _times(response: Response) -> Times:
    return Times(first=response.first, total=response.total)


def _error(body: bytes) -> dict[str, Any]:
    """The error object of a body, in the shapes that servers give it; empty where there is none."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    error = found.get("error", found) if isinstance(found, dict) else {}
    return error if isinstance(error, dict) else {"message": error}


def _ended(words: str) -> str:
    """A server's words, before a sentence of ours."""
    return words if words.endswith((".", "!", "?")) else f"{words}."


def _quote(body: bytes) -> str:
    """The beginning of a body, on one line."""
    text = " ".join(body[: 4 * QUOTED].decode(errors="replace").split())
    return repr(text[:QUOTED]) if text else "nothing"
