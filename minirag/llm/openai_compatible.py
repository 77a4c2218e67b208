"""Any server that speaks the chat-completions protocol: OpenAI, vLLM, Ollama, `transformers serve`,
and many more.
"""

import os
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from ..core.errors import MiniragError
from ..prompts.task import Fields, Messages, Task
from .base import LLM, Completion, token_count, tokens_sent

OLLAMA = "http://localhost:11434/v1"
OPENAI = "https://api.openai.com/v1"
LONGEST_WAIT = 60  # seconds between two attempts, whatever the server asks for


HINTS = {401: " Check the key in the environment.", 404: " Check the model's name and the address."}


class Transient(Exception):
    """A failure worth another attempt. `wait`: seconds the server asked for, or None."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class OpenAICompatible(LLM):
    """A chat model on a server, asked with temperature 0 and a fixed seed.

    429, 5xx, timeouts, lost connections and unreadable bodies are tried again, `attempts` times in
    all, with growing pauses (or the pause the server asks for); then, as on every other refusal,
    there is one MiniragError. The key is read from the environment when a call is made and is
    neither kept, printed nor recorded.
    """

    travels = True

    def __init__(
        self,
        kind: str,
        model: str,
        *,
        base_url: str | None = None,
        timeout: float = 60,
        attempts: int = 5,
        first_wait: float = 0.5,
        **options: Any,
    ) -> None:
        super().__init__()
        self.kind, self.model, self.timeout, self.first_wait = kind, model, timeout, first_wait
        self.attempts = max(1, attempts)
        named = [os.environ.get(name) for name in ("MINIRAG_BASE_URL", "OPENAI_BASE_URL")]
        default = OLLAMA if kind == "ollama" else next(filter(None, named), OPENAI)
        self.base_url = base_url or default
        self.options: dict[str, Any] = {"temperature": 0, "seed": 0} | options
        self.limit = "max_tokens"  # newer models of OpenAI call it max_completion_tokens
        self._client, self._lock = None, threading.Lock()
        shown = urlsplit(self.base_url)
        if shown.scheme not in ("http", "https") or not shown.hostname:
            raise MiniragError(
                f"base_url={self.base_url!r} is no whole address: "
                "one such as http://localhost:8000/v1 is expected."
            )
        self.address = f"{shown.hostname}{f':{shown.port}' if shown.port else ''}{shown.path}"
        known = self.base_url in (OLLAMA, OPENAI)
        self.name = f"{kind}:{model}" + ("" if known else f" at {self.address}")
        if kind != "batch":  # whose files may also be sent by hand
            self._key()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_client": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= {**state, "_lock": threading.Lock()}

    def _key(self) -> str:
        key = os.environ.get("MINIRAG_API_KEY")
        if not key and self.kind != "ollama":
            key = os.environ.get("OPENAI_API_KEY")
        if not key and self.base_url == OPENAI:
            raise MiniragError(
                "OpenAI wants a key: put it into the environment variable OPENAI_API_KEY, "
                "or give base_url= for a server of your own."
            )
        return key or "none"

    def _open(self) -> Any:
        import openai

        with self._lock:
            if self._client is None:
                self._client = openai.OpenAI(
                    api_key=self._key(), base_url=self.base_url, timeout=self.timeout, max_retries=0
                )
            return self._client

    def complete(self, task: Task, messages: Messages, fields: Fields) -> Completion:
        import tenacity

        def pause(state: Any) -> float:
            asked_for = state.outcome.exception().wait
            backing_off = tenacity.wait_random_exponential(
                multiplier=self.first_wait, max=LONGEST_WAIT
            )
            return backing_off(state) if asked_for is None else min(asked_for, LONGEST_WAIT)

        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self.attempts),
            wait=pause,
            retry=tenacity.retry_if_exception_type(Transient),
            reraise=True,
        )
        try:
            completion = retrying(self._attempt, task, messages)
        except Transient as error:
            raise MiniragError(
                f"{self.name} gave no answer to a {task.name!r} prompt in {self.attempts} "
                f"attempts; the last one: {error}."
            ) from None
        return replace(completion, retries=retrying.statistics["attempt_number"] - 1)

    def arguments(self, task: Task) -> dict[str, Any]:
        """What is sent besides the model's name and the messages."""
        arguments = {self.limit: task.max_tokens} | self.options
        if task.sample is not None:
            # A seed of its own, or a server that honours seeds would say the same every time.
            own = {"temperature": task.temperature, "seed": task.sample}
            arguments |= {name: own[name] for name in own if self.options[name] is not None}
        return {name: value for name, value in arguments.items() if value is not None}

    def leave_out(self, arguments: Iterable[str], said: str) -> bool:
        """Whether a refusal names one of the arguments, which is left out from then on."""
        refused = [name for name in arguments if name in said]
        if "max_tokens" in refused and "max_completion_tokens" in said:
            self.limit = "max_completion_tokens"
        elif refused:
            self.options[refused[0]] = None
        return bool(refused)

    def _attempt(self, task: Task, messages: Messages) -> Completion:
        import openai

        arguments = self.arguments(task)
        try:
            reply = self._open().chat.completions.create(
                model=self.model, messages=messages, **arguments
            )
        except openai.APITimeoutError:
            raise Transient(f"silence for {self.timeout} seconds") from None
        except openai.APIConnectionError as error:
            cause = type(error.__cause__ or error).__name__
            raise Transient(
                f"the connection failed ({cause}), so no server seems to listen there"
            ) from None
        except openai.APIStatusError as error:
            raise self._refusal(error, task, arguments) from None
        except (openai.APIError, ValueError) as error:
            raise Transient(
                f"a reply that is not the protocol's JSON ({type(error).__name__})"
            ) from None
        return self._read(reply, messages)

    @staticmethod
    def _read(reply: Any, messages: Messages) -> Completion:
        try:
            text = reply.choices[0].message.content or ""
        except (AttributeError, IndexError, TypeError):
            raise Transient("a reply without choices[0].message") from None
        usage = getattr(reply, "usage", None)
        if usage is None:
            return Completion(text, tokens_sent(messages), token_count(text))
        return Completion(text, usage.prompt_tokens or 0, usage.completion_tokens or 0)

    def _refusal(self, error: Any, task: Task, arguments: dict[str, Any]) -> Exception:
        """What to raise for a status: Transient, or the final error."""
        status, said = error.status_code, self._said(error)
        if status in (408, 409, 429) or status >= 500:
            return Transient(f"status {status} ({said})", _retry_after(error.response.headers))
        if status == 400 and self.leave_out(arguments, said):
            return Transient(f"status 400 ({said})", 0)
        hint = HINTS.get(status, "")
        return MiniragError(
            f"{self.name} refused a {task.name!r} prompt with status {status}: {said}.{hint}"
        )

    def _said(self, error: Any) -> str:
        """The server's own words in short, with the key taken out should the server repeat it."""
        body = error.body if isinstance(error.body, dict) else {}
        said = str(body.get("message") or error.message).replace(self._key(), "***")
        return said[:300].rstrip(".")


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from a Retry-After header, given in seconds or as a date; None without one."""
    value = headers.get("retry-after", "")
    with suppress(ValueError):
        return max(0.0, float(value))
    with suppress(TypeError, ValueError):
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    return None
