"""Any server that speaks OpenAI's chat completions: vLLM, SGLang, `transformers serve`, hosted services.

Images go as `data:` addresses of exactly the bytes that were loaded, in the places where the messages have them.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import orjson

from snellen.content import Image, Message, Part
from snellen.errors import Overloaded, Rejected
from snellen.media import images
from snellen.model import Reply, Request, Times, Usage
from snellen.models._profile import Profile
from snellen.transport import Response, Transport

PATH = "chat/completions"
ASK_AGAIN = (408, 409, 425, 429)
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
    return OpenAI(name, transport, key_variable=profile.api_key_env)


class OpenAI:
    """A model behind chat completions."""

    def __init__(self, name: str, transport: Transport, *, key_variable: str | None = None) -> None:
        self.name = name
        self._transport = transport
        self._key_variable = key_variable

    async def generate(self, request: Request) -> Reply:
        """One reply.

        Raises:
            Overloaded, Rejected: as the server's status says; a body that is no chat completion is asked for again.
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
            "max_tokens": generation.max_tokens,
            "temperature": generation.temperature,
            "top_p": generation.top_p,
            "seed": request.seed,
            "stop": list(request.stop) or None,
            **generation.extra,
        }
        return orjson.dumps({name: value for name, value in body.items() if value is not None})

    # -- and back

    def _refusal(self, response: Response) -> Reply:
        """What a status other than 200 means; only a content filter's gives a reply."""
        where, status = self._transport.where, response.status
        error = _error(response.body)
        if status == 400 and error.get("code") == "content_filter":
            return Reply(text="", stop="filter", times=_times(response))
        words = str(error.get("message") or _quote(response.body))[:QUOTED]
        if status in ASK_AGAIN or status >= 500:
            raise Overloaded(
                f"{where}: {status}: {words}",
                retry_after=response.retry_after,
                throttled=status == 429,
            )
        if status == 401:
            variable = self._key_variable
            hint = f"Is the key in {variable} right?" if variable else "Name the key's variable with --api-key-env."
            raise Rejected(f"{where}: 401: {words}. {hint}", hopeless=True)
        if status == 404:
            raise Rejected(
                f"{where}: 404: {words}. Is {self.name!r} a model there, and does the address end in /v1?",
                hopeless=True,
            )
        raise Rejected(f"{where}: {status}: {words}")

    def _reply(self, response: Response) -> Reply:
        try:
            found = orjson.loads(response.body)
            choice = found["choices"][0]
            message = choice["message"]
        except orjson.JSONDecodeError:
            try:
                response.body.decode()
                what = "not JSON"
            except UnicodeDecodeError:
                what = "not UTF-8"
        except (KeyError, IndexError, TypeError):
            what = "not a chat completion"
        else:
            if isinstance(message, dict):
                return self._read(found, choice, message, response)
            what = "not a chat completion"
        raise Overloaded(f"{self._transport.where}: the reply is {what}: {_quote(response.body)}")

    def _read(
        self, found: dict[str, Any], choice: dict[str, Any], message: dict[str, Any], response: Response
    ) -> Reply:
        text = _text(message.get("content"))
        stop = choice.get("finish_reason")
        if stop == "content_filter" or (message.get("refusal") and not text):
            stop = "filter"
        return Reply(
            text=text,
            reasoning=message.get("reasoning_content") or message.get("reasoning"),
            stop=stop,
            usage=_usage(found.get("usage")),
            times=_times(response),
        )


def _message(message: Message) -> dict[str, Any]:
    if all(isinstance(part, str) for part in message.content):
        return {"role": message.role, "content": "\n".join(map(str, message.content))}
    return {"role": message.role, "content": [_part(part) for part in message.content]}


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if isinstance(part, Image):
        image = images.load(part)
        assert isinstance(image.source, bytes)
        encoded = b64encode(image.source).decode("ascii")
        return {"type": "image_url", "image_url": {"url": f"data:{image.mime};base64,{encoded}"}}
    raise Rejected("chat completions take text and images; this request has a video.")


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(
            part["text"]
            for part in content
            if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    return ""


def _usage(usage: object) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    spent = usage.get("completion_tokens_details") or {}
    given = usage.get("prompt_tokens_details") or {}
    return Usage(
        input=usage.get("prompt_tokens"),
        output=usage.get("completion_tokens"),
        reasoning=spent.get("reasoning_tokens"),
        cached=given.get("cached_tokens"),
    )


def _times(response: Response) -> Times:
    return Times(first=response.first, total=response.total)


def _error(body: bytes) -> dict[str, Any]:
    """The error object of a body, in the two shapes that servers give it; empty where there is none."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    error = found.get("error", found) if isinstance(found, dict) else {}
    return error if isinstance(error, dict) else {"message": error}


def _quote(body: bytes) -> str:
    text = " ".join(body[: 4 * QUOTED].decode(errors="replace").split())
    return repr(text[:QUOTED]) if text else "nothing"
