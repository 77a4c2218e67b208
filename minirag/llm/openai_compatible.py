"""Any server that speaks the chat-completions protocol: OpenAI, vLLM, Ollama, `transformers serve`,
and many more.
"""

import os
import threading
from urllib.parse import urlsplit

from ..core.errors import MiniragError
from .base import LLM, Completion, token_count

OLLAMA = "http://localhost:11434/v1"
OPENAI = "https://api.openai.com/v1"
LONGEST_WAIT = 60  # seconds between two attempts, whatever the server asks for


class Transient(Exception):
    """A failure worth another attempt. `wait`: seconds the server asked for, or None."""

    def __init__(self, reason, wait=None):
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
        self, kind, model, *, base_url=None, timeout=60, attempts=5, first_wait=0.5, **options
    ):
        super().__init__()
        self.kind, self.model, self.timeout, self.attempts, self.first_wait = (
            kind,
            model,
            timeout,
            max(1, attempts),
            first_wait,
        )
        default = (
            OLLAMA
            if kind == "ollama"
            else os.environ.get("MINIRAG_BASE_URL") or os.environ.get("OPENAI_BASE_URL") or OPENAI
        )
        self.base_url = base_url or default
        self.options = {"temperature": 0, "seed": 0} | options
        self.limit = "max_tokens"  # newer models of OpenAI call it max_completion_tokens
        self._client, self._lock = None, threading.Lock()
        shown = urlsplit(self.base_url)
        if shown.scheme not in ("http", "https") or not shown.hostname:
            raise MiniragError(
                f"base_url={self.base_url!r} is no whole address: "
                "one such as http://localhost:8000/v1 is expected."
            )
        self.address = f"{shown.hostname}{f':{shown.port}' if shown.port else ''}{shown.path}"
        self.name = (
            f"{kind}:{model}"
            if self.base_url in (OLLAMA, OPENAI)
            else f"{kind}:{model} at {self.address}"
        )
        self._key()

    def __getstate__(self):
        return {
            name: value for name, value in self.__dict__.items() if name not in ("_client", "_lock")
        }

    def __setstate__(self, state):
        self.__dict__ |= state
        self._client, self._lock = None, threading.Lock()

    def _key(self):
        key = os.environ.get("MINIRAG_API_KEY") or (
            os.environ.get("OPENAI_API_KEY") if self.kind == "openai" else None
        )
        if not key and self.base_url == OPENAI:
            raise MiniragError(
                "OpenAI wants a key: put it into the environment variable OPENAI_API_KEY, or give base_url= for a server of your own."
            )
        return key or "none"

    def _open(self):
        import openai

        with self._lock:
            if self._client is None:
                self._client = openai.OpenAI(
                    api_key=self._key(), base_url=self.base_url, timeout=self.timeout, max_retries=0
                )
            return self._client

    def complete(self, task, messages, fields):
        import tenacity

        def pause(state):
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
            reply = retrying(self._attempt, task, messages)
        except Transient as error:
            raise MiniragError(
                f"{self.name} gave no answer to a {task.name!r} prompt in {self.attempts} attempts; the last one: {error}."
            ) from None
        text, prompt_tokens, completion_tokens = reply
        return Completion(
            text,
            prompt_tokens,
            completion_tokens,
            retries=retrying.statistics["attempt_number"] - 1,
        )

    def _attempt(self, task, messages):
        import openai

        arguments = {self.limit: task.max_tokens} | self.options
        if (
            task.sample is not None
        ):  # a seed of its own, or a server that honours seeds would say the same thing every time
            own = {"temperature": task.temperature, "seed": task.sample}
            arguments |= {
                name: value for name, value in own.items() if self.options[name] is not None
            }
        arguments = {name: value for name, value in arguments.items() if value is not None}
        try:
            reply = self._open().chat.completions.create(
                model=self.model, messages=messages, **arguments
            )
        except openai.APITimeoutError:
            raise Transient(f"silence for {self.timeout} seconds") from None
        except openai.APIConnectionError as error:
            raise Transient(
                f"the connection failed ({type(error.__cause__ or error).__name__}), so no server seems to listen there"
            ) from None
        except openai.APIStatusError as error:
            raise self._refusal(error, task, arguments) from None
        except (openai.APIError, ValueError) as error:
            raise Transient(
                f"a reply that is not the protocol's JSON ({type(error).__name__})"
            ) from None
        return self._read(reply, messages)

    def _read(self, reply, messages):
        try:
            text = reply.choices[0].message.content or ""
        except (AttributeError, IndexError, TypeError):
            raise Transient("a reply without choices[0].message") from None
        usage = getattr(reply, "usage", None)
        if usage is None:
            return (
                text,
                token_count(*(message["content"] for message in messages)),
                token_count(text),
            )
        return text, usage.prompt_tokens or 0, usage.completion_tokens or 0

    def _refusal(self, error, task, arguments):
        """What to raise for a status: Transient, or the final error. An argument that the model
        refuses is left out from then on.
        """
        status, said = error.status_code, self._said(error)
        if status in (408, 409, 429) or status >= 500:
            return Transient(f"status {status} ({said})", _retry_after(error.response.headers))
        refused = [name for name in arguments if name in said] if status == 400 else []
        if "max_tokens" in refused and "max_completion_tokens" in said:
            self.limit = "max_completion_tokens"
        elif refused:
            self.options[refused[0]] = None
        if refused:
            return Transient(f"status 400 ({said})", 0)
        hint = {
            401: " Check the key in the environment.",
            404: " Check the model's name and the address.",
        }.get(status, "")
        return MiniragError(
            f"{self.name} refused a {task.name!r} prompt with status {status}: {said}.{hint}"
        )

    def _said(self, error):
        """The server's own words in short, with the key taken out should the server repeat it."""
        body = error.body if isinstance(error.body, dict) else {}
        said = str(body.get("message") or error.message).replace(self._key(), "***")
        return said[:300].rstrip(".")


def _retry_after(headers):
    """Seconds from a Retry-After header, given in seconds or as a date; None without one."""
    import time
    from email.utils import parsedate_to_datetime

    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
