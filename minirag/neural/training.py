"""Training with seeds, early stop, and a checkpoint after every epoch: a killed run goes on to the
very same weights.
"""

import hashlib
import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from ..core.display import progress
from ..core.errors import MiniragError
from ..core.files import write_atomic
from .batches import Example
from .model import Collate, GraphPrompt, accuracy, chosen_device

WARM = 0.1  # share of a phase's steps in which the learning rate rises


@dataclass(frozen=True)
class Plan:
    """How to train. Rates are for tiny models on a laptop (paper: AdamW at 1e-5, weight decay .05,
    at most 10 epochs, batches of 2).

    alignment_epochs: of the warm-up without language model, 0 for none (the paper has none).
    epochs: through the language model.
    rate, language_rate: highest learning rates of the graph's part and of a tuned language model.
    pruning_part: share of the rate that pruning learns at; at the full rate its sigmoid saturates
    on some seeds, and then learns no more. patience: epochs without a better validation accuracy
    before stopping.
    later_wins: of epochs with the same accuracy keep the last, not the first. validation: how many
    validation questions are asked after an epoch.
    device: "cpu", "cuda", or None for a GPU if there is one.
    """

    seed: int = 0
    alignment_epochs: int = 12
    alignment_rate: float = 2e-3
    epochs: int = 2
    rate: float = 5e-4
    language_rate: float = 5e-4
    pruning_part: float = 0.2
    batch: int = 64
    weight_decay: float = 0.01
    clip: float = 1.0
    patience: int = 3
    later_wins: bool = False
    validation: int = 300
    device: str | None = None

    def __post_init__(self) -> None:
        least = min(self.alignment_epochs, self.epochs, self.validation)
        if least < 0 or min(self.batch, self.patience) < 1:
            raise MiniragError(
                f"A plan has epochs and validation from 0, batch and patience from 1; got {self!r}."
            )


@dataclass
class Report:
    """What happened: one row of `history` an epoch, `best` (epoch and validation accuracy),
    `seconds` of training.
    """

    history: list[dict[str, Any]] = field(default_factory=list)
    best: dict[str, Any] = field(default_factory=lambda: {"epoch": None, "accuracy": -1.0})
    seconds: float = 0.0

    def __repr__(self) -> str:
        text = f"Report of {len(self.history)} epochs in {self.seconds:.0f} s"
        if self.best["epoch"] is None:
            return text
        best = f"{self.best['accuracy']:.3f} in epoch {self.best['epoch']}"
        return f"{text}, best validation accuracy {best}"


class Trainer:
    """Trains `model` in place. collate: a `Collator`. folder: where checkpoints go; None keeps
    none.

    Source: GRAG, Sec. 4.2 (eq-11); GRAG, App. A.1 (tab-2)
    """

    def __init__(
        self, model: GraphPrompt, collate: Collate, plan: Plan = Plan(), folder: Path | None = None
    ) -> None:
        self.model, self.collate, self.plan = model, collate, plan
        self.checkpoint = Path(folder) / "training.safetensors" if folder is not None else None
        self.report = Report()
        self.best: dict[str, Tensor] | None = None

    def fit(
        self, train: Sequence[Example], validation: Sequence[Example], until: int | None = None
    ) -> Report:
        """Train on `train`, keep the epoch that is best on `validation`, and return the `Report`.
        `until` stops after so many epochs (for tests).
        """
        if not train:
            raise MiniragError("There is nothing to train on: no training example was given.")
        schedule = self._schedule()
        self.model.to(chosen_device(self.plan.device))
        done, state = self._resume(train)
        if not done:
            self.model.fit_pruning(self.collate, train)
        optimizer = None
        batches = len(schedule) * math.ceil(len(train) / self.plan.batch)
        with progress(total=batches, description="training", unit="batch") as bar:
            for number, (phase, epoch) in enumerate(schedule[:until]):
                if number < done:
                    continue
                if optimizer is None or epoch == 0:  # each phase begins with a fresh one
                    optimizer, state = self._optimizer(state if epoch else {}), {}
                self._epoch(phase, epoch, train, validation, optimizer, bar)
                self._save(number + 1, optimizer, train)
                if self._out_of_patience():
                    break
        if self.best is not None:
            self.model.load_state_dict(self.best, strict=False)
        self.model.eval()
        return self.report

    def _schedule(self) -> list[tuple[str, int]]:
        """(phase, epoch) of each epoch; none where nothing may change."""
        if not any(parameter.requires_grad for parameter in self.model.parameters()):
            return []
        aligned = self.plan.alignment_epochs if self.model.options.graph_token != "none" else 0
        align = [("align", epoch) for epoch in range(aligned)]
        return align + [("prompt", epoch) for epoch in range(self.plan.epochs)]

    def _epoch(
        self, phase: str, epoch: int, train: Sequence[Example], validation: Sequence[Example],
        optimizer: torch.optim.Optimizer, bar: Any,
    ) -> None:  # fmt: skip
        started, plan = time.perf_counter(), self.plan
        draws = torch.Generator().manual_seed(_seed(plan.seed, phase, epoch, 0))
        order = torch.randperm(len(train), generator=draws).tolist()
        torch.manual_seed(_seed(plan.seed, phase, epoch, 1))
        steps = math.ceil(len(train) / plan.batch)
        total = steps * (plan.alignment_epochs if phase == "align" else plan.epochs)
        answers = self._answers(train) if phase == "align" else None
        self.model.train()
        losses = []
        for step in range(steps):
            chosen = [train[i] for i in order[step * plan.batch : (step + 1) * plan.batch]]
            batch = self.collate(chosen)
            if answers:
                loss = self.model.alignment_loss(chosen, batch, *answers)
            else:
                loss = self.model.loss(chosen, batch)
            self._step(loss, optimizer, phase, (epoch * steps + step) / total)
            losses.append(loss.item())
            bar.update()
        row: dict[str, Any] = {"phase": phase, "epoch": epoch, "loss": sum(losses) / len(losses)}
        if phase == "prompt":
            row["accuracy"] = accuracy(self.model, self.collate, validation[: plan.validation])
            best = self.report.best["accuracy"]
            if row["accuracy"] > best or (plan.later_wins and row["accuracy"] == best):
                self.report.best = {"epoch": epoch, "accuracy": row["accuracy"]}
                own = self.model.own_state().items()
                self.best = {name: tensor.clone() for name, tensor in own}
        self.report.history.append(row)
        self.report.seconds += time.perf_counter() - started

    def _step(
        self, loss: Tensor, optimizer: torch.optim.Optimizer, phase: str, share: float
    ) -> None:
        for group in optimizer.param_groups:
            highest = group["highest"] if phase == "prompt" else self.plan.alignment_rate
            group["lr"] = highest * group["part"] * one_cycle(share)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it without types
        torch.nn.utils.clip_grad_norm_(_parameters(optimizer), self.plan.clip)
        optimizer.step()

    def _answers(self, train: Sequence[Example]) -> tuple[dict[str, int], Tensor]:
        """({answer: position}, unit embeddings) of the training answers."""
        answers = sorted({example.answer for example in train})
        with torch.no_grad():
            vectors = F.normalize(self.model.language.answer_vectors(answers), dim=1)
        return {answer: position for position, answer in enumerate(answers)}, vectors

    def _optimizer(self, state: dict[str, Tensor]) -> torch.optim.Optimizer:
        """AdamW over what may change: the graph's part, at a rate of its own pruning, and at
        another a tuned language model. state: of a checkpoint, by parameter and entry.
        """
        plan = self.plan
        rates = {
            "graph": {"highest": plan.rate, "part": 1.0},
            "language": {"highest": plan.language_rate, "part": 1.0},
            "pruning": {"highest": plan.rate, "part": plan.pruning_part},
        }
        parts: dict[str, list[Tensor]] = {part: [] for part in rates}
        for name, parameter in self.model.named_parameters():
            if parameter.requires_grad:
                parts.get(name.split(".")[0], parts["graph"]).append(parameter)
        groups = [{"params": some, **rates[part]} for part, some in parts.items() if some]
        optimizer = torch.optim.AdamW(
            groups, lr=plan.rate, betas=(0.9, 0.95), weight_decay=plan.weight_decay, foreach=True
        )
        numbered = dict(enumerate(_parameters(optimizer)))
        for key, value in state.items():
            _, number, entry = key.split(".")
            optimizer.state[numbered[int(number)]][entry] = value
        return optimizer

    def _out_of_patience(self) -> bool:
        measured = [row["accuracy"] for row in self.report.history if "accuracy" in row]
        late = measured[-self.plan.patience :]
        return len(measured) > self.plan.patience and max(late) < max(measured)

    def _fingerprint(self, train: Sequence[Example]) -> str:
        """Of plan, settings and examples: a checkpoint of another run must not be taken for this
        one's.
        """
        seen = [(example.question, example.answer, example.text) for example in train]
        tuning = self.model.language.tuning
        parts = [asdict(self.plan), asdict(self.model.options), tuning, seen]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    def _save(self, done: int, optimizer: torch.optim.Optimizer, train: Sequence[Example]) -> None:
        if self.checkpoint is None:
            return
        from safetensors.torch import save

        tensors = {f"model.{name}": tensor for name, tensor in self.model.own_state().items()}
        tensors |= {f"best.{name}": tensor for name, tensor in (self.best or {}).items()}
        for number, parameter in enumerate(_parameters(optimizer)):
            for key, value in optimizer.state.get(parameter, {}).items():
                tensors[f"optimizer.{number}.{key}"] = torch.as_tensor(value)
        run = {"done": done, "report": asdict(self.report), "fingerprint": self._fingerprint(train)}
        copies = {name: tensor.cpu().clone() for name, tensor in tensors.items()}
        write_atomic(self.checkpoint, save(copies, {"minirag": json.dumps(run)}))

    def _resume(self, train: Sequence[Example]) -> tuple[int, dict[str, Tensor]]:
        """(epochs done, optimizer state) of the checkpoint, whose weights are put into the model;
        (0, {}) where there is none.
        """
        if self.checkpoint is None or not self.checkpoint.is_file():
            return 0, {}
        run, tensors = read_checkpoint(self.checkpoint)
        if run["fingerprint"] != self._fingerprint(train):
            raise MiniragError(
                f"{self.checkpoint.parent} holds a training run with other settings or examples."
                " Choose another folder, or delete it to start anew."
            )
        parts: dict[str, dict[str, Tensor]] = {"model": {}, "best": {}, "optimizer": {}}
        for key, tensor in tensors.items():
            part, name = key.split(".", 1)
            parts[part][key if part == "optimizer" else name] = tensor
        self.model.load_state_dict(parts["model"], strict=False)
        self.best, self.report = parts["best"] or None, Report(**run["report"])
        state = parts["optimizer"].items()
        device = self.model.device
        return run["done"], {
            key: value if key.endswith(".step") else value.to(device) for key, value in state
        }


def read_checkpoint(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """(what is known of the run, {name: tensor}) of a checkpoint. Raises MiniragError for a damaged
    or foreign file.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # it is no dictionary
            return json.loads((file.metadata() or {})["minirag"]), tensors
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise MiniragError(
            f"{path} is no checkpoint of a training run ({error}). Delete it and train again."
        ) from error


def one_cycle(share: float) -> float:
    """Factor of the learning rate when this share of the steps is done: up in a straight line, then
    down along a cosine.
    """
    if share < WARM:
        return (share + 0.01) / (WARM + 0.01)
    return 0.5 * (1 + math.cos(math.pi * (share - WARM) / (1 - WARM)))


def _parameters(optimizer: torch.optim.Optimizer) -> list[Tensor]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def _seed(*parts: object) -> int:
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:6], "big")
