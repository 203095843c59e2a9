"""Requests to a server of language models in the chat-completions form, tried again with patience.

References
----------
"Create chat completion", API reference of OpenAI; vLLM, llama.cpp, Ollama and others take the same
form. RFC 9110, section 10.2.3: Retry-After, in seconds or as a date.
"""

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from threading import Event
from typing import Any, NamedTuple, NoReturn
from urllib.parse import urlsplit

from bayesduel.study.machine import NoAnswer, RunEnded
from bayesduel.system.arguments import shown_value
from bayesduel.system.extras import load_extra

__all__ = ["ChatCompletions", "Completion"]

PATH = "/chat/completions"
# Answers that another try may change: RFC 9110 (408, 5xx), RFC 6585 (429), RFC 8470 (425).
PASSING = {408, 425, 429, *range(500, 600)}
OF_THE_PROMPT = {400, 413, 422}  # what a server answers to a prompt that it does not take
# Seconds of a wait that nobody asked for. Limits of hosted models are counted by the minute.
LONGEST_WAIT = 60.0


class Completion(NamedTuple):
    """What a server answered."""

    text: str | None  # None where it is none: cut off at the length, refused, or of another form
    read: int | None  # tokens of the prompt, and of the reply; None where they are not named
    written: int | None


@dataclass
class ChatCompletions:
    """A server of the chat-completions form.

    Raises ValueError if the address is none, or would carry the key unencrypted, or the key could
    not be sent in a header.
    """

    endpoint: str  # the address, with or without /chat/completions
    model: str
    parameters: Mapping[str, Any] = field(default_factory=dict)  # of each request, beside the model
    key: str | None = field(default=None, repr=False)
    timeout: float = 60.0  # seconds
    retries: int = 8  # of a request that failed for a passing reason
    first_wait: float = 1.0  # seconds before the first new try; then twice as many each time
    stopped: Event = field(default_factory=Event)  # when it is set, no further request is sent

    def __post_init__(self) -> None:
        httpx = load_extra("httpx", "machine")
        parts = urlsplit(self.endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            public = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
            raise ValueError(
                "endpoint should be an address such as http://127.0.0.1:8000/v1, without a user "
                f"name, got {shown_value(public)}"
            )
        here = parts.hostname in ("localhost", "127.0.0.1", "::1")
        if self.key is not None and parts.scheme == "http" and not here:
            raise ValueError(
                "endpoint should begin with https://, because a key is sent, got "
                f"{shown_value(self.endpoint)}"
            )
        if self.key is not None and not (self.key.isascii() and self.key.isprintable()):
            raise ValueError("the key should have only printable ASCII characters")
        self._address = self.endpoint.rstrip("/").removesuffix(PATH) + PATH
        self._answered = False
        self.failed = False
        self.why = "it was stopped"  # why the run ended, for the threads that wait
        headers = {} if self.key is None else {"authorization": f"Bearer {self.key}"}
        self._client = httpx.Client(headers=headers, timeout=self.timeout)
        self._failures = (httpx.TransportError, httpx.DecodingError)

    def ask(self, prompt: str) -> Completion:
        """Return the answer to a prompt.

        Raises NoAnswer if the server takes other prompts and not this one, and RunEnded if it
        cannot be used.
        """
        body = {"model": self.model, "messages": [{"role": "user", "content": prompt}]}
        for k in range(self.retries + 1):
            if self.stopped.is_set():
                raise RunEnded(self.why)
            try:
                answer = self._client.post(self._address, json=body | dict(self.parameters))
            except self._failures as error:
                said = f"{type(error).__name__} {self._hidden(str(error))}".strip()
                asked = None
            else:
                if answer.status_code == 200:
                    self._answered = True
                    return _completion(answer)
                said = f"status {answer.status_code}: {self._hidden(answer.text)}"
                if answer.status_code in OF_THE_PROMPT and self._answered:
                    raise NoAnswer(said)
                if answer.status_code not in PASSING:
                    self.end(f"the endpoint refuses: {said}")
                asked = _retry_after(answer.headers.get("retry-after", ""))
            if k < self.retries:
                self._wait(k, asked)
        self.end(f"the endpoint failed {self.retries + 1} times in a row: {said}")

    def end(self, why: str) -> NoReturn:
        """Send no further request, and raise RunEnded: the server cannot be used."""
        self.failed = True
        self.why = why  # before the threads that it stops say it
        self.stopped.set()  # the other threads wait in vain
        raise RunEnded(why)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _wait(self, k: int, asked: float | None) -> None:
        # 600 seconds of Retry-After; a server that asks for more ends the run
        if asked is not None and asked > 600.0:
            self.end(f"the endpoint asks to wait {asked:,.0f} seconds")
        own = min(self.first_wait * 2**k, LONGEST_WAIT) * random.uniform(0.5, 1.0)
        self.stopped.wait(own if asked is None else asked)

    def _hidden(self, text: str) -> str:
        """Return the beginning of what a server says, without the key."""
        own = text if self.key is None else text.replace(self.key, "***")
        # 300 characters of what a server says of an error
        return " ".join(own.split())[:300]


def _completion(answer: Any) -> Completion:
    try:
        body = answer.json()
    except (ValueError, RecursionError):
        return Completion(None, None, None)
    usage = body.get("usage") if isinstance(body, dict) else None
    read, written = (_tokens(usage, name) for name in ("prompt_tokens", "completion_tokens"))
    try:
        choice = body["choices"][0]
        text = choice["message"]["content"]
        whole = choice.get("finish_reason") in (None, "stop")
    except (AttributeError, IndexError, KeyError, TypeError):
        return Completion(None, read, written)
    return Completion(text if whole and isinstance(text, str) else None, read, written)


def _tokens(usage: Mapping[str, Any] | None, name: str) -> int | None:
    found = usage.get(name) if isinstance(usage, dict) else None
    return found if type(found) is int and found >= 0 else None


def _retry_after(text: str) -> float | None:
    """Return the seconds that a header asks for, None where it asks for none."""
    if text.strip().isdecimal():
        return float(text)
    try:
        return max(parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except ValueError:
        return None
