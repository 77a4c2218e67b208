"""A Hugging Face model on this machine, greedy, so that the same prompt gives the same answer."""

import threading
from pathlib import Path
from typing import Any

from ..core.errors import MiniragError
from ..core.files import quiet
from ..prompts.task import Fields, Messages, Task
from .base import LLM, Completion

PLAIN_CHAT = (
    "{% for message in messages %}{{ message['role'] | capitalize }}: {{ message['content'] }}"
    "\n\n{% endfor %}Assistant:"
)


class HuggingFace(LLM):
    """A causal language model from the hub or from a folder; its own chat template, or a plain one
    if it has none.

    options: max_new_tokens caps every task's own limit; device ("cpu", "cuda"), default a GPU if
    there is one.
    """

    def __init__(
        self, model: str | Path, *, device: str | None = None, max_new_tokens: int | None = None
    ) -> None:
        super().__init__()
        self.model_name, self.max_new_tokens = str(model), max_new_tokens
        self.name = f"hf:{self.model_name.rstrip('/').rsplit('/', 1)[-1]}"
        self._device, self._lock = device, threading.Lock()
        self._tokenizer: Any = None
        self._model: Any = None

    def _load(self) -> tuple[Any, Any]:
        import torch
        import transformers

        if self._model is None:
            device = self._device or ("cuda" if torch.cuda.is_available() else "cpu")
            try:
                with quiet():
                    self._tokenizer = transformers.AutoTokenizer.from_pretrained(self.model_name)
                    model = transformers.AutoModelForCausalLM.from_pretrained(self.model_name)
                    self._model = model.to(device).eval()
            except (OSError, ValueError) as error:
                why = str(error).splitlines()[0][:200]
                raise MiniragError(
                    f"{self.name}: no causal language model could be loaded from "
                    f"{self.model_name!r} ({why})."
                ) from error
        return self._tokenizer, self._model

    def complete(self, task: Task, messages: Messages, fields: Fields) -> Completion:
        import torch

        with self._lock:  # one at a time: a model has no use for threads of ours
            tokenizer, model = self._load()
            template = tokenizer.chat_template or PLAIN_CHAT
            encoded = tokenizer.apply_chat_template(
                messages,
                chat_template=template,
                add_generation_prompt=True,
                return_tensors="pt",
                return_dict=True,
            )
            read = encoded["input_ids"].shape[1]
            padding, end = tokenizer.pad_token_id, tokenizer.eos_token_id
            with torch.inference_mode():
                output = model.generate(
                    input_ids=encoded["input_ids"].to(model.device),
                    attention_mask=encoded["attention_mask"].to(model.device),
                    max_new_tokens=self._room(read, task),
                    **self._choice(task),
                    pad_token_id=end if padding is None else padding,
                )
        written = output[0, read:]
        return Completion(tokenizer.decode(written, skip_special_tokens=True), read, len(written))

    @staticmethod
    def _choice(task: Task) -> dict[str, Any]:
        """Greedy, so that the same prompt gives the same answer; a sample is drawn with its own
        number as the seed.
        """
        import torch

        if task.sample is None:
            return {"do_sample": False}
        torch.manual_seed(task.sample)
        return {"do_sample": True, "temperature": task.temperature, "top_k": 0, "top_p": 1.0}

    def _room(self, read: int, task: Task) -> int:
        """How many tokens may be written after a prompt of `read` tokens."""
        window = getattr(self._model.config, "max_position_embeddings", None)
        wish = min(task.max_tokens, self.max_new_tokens or task.max_tokens)
        room = wish if window is None else min(wish, window - read)
        if room < 1:
            raise MiniragError(
                f"{self.name}: a {task.name!r} prompt has {read} tokens, the model takes {window}. "
                "Use smaller chunks or another model."
            )
        return room
