"""Training with seeds, early stop, and a checkpoint after every epoch: a killed run goes on to the
very same weights.
"""

import hashlib
import json
import math
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from torch.nn import functional as F

from ..core.display import progress
from ..core.errors import MiniragError
from ..core.files import write_atomic

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

    def __post_init__(self):
        if (
            min(self.alignment_epochs, self.epochs, self.validation) < 0
            or min(self.batch, self.patience) < 1
        ):
            raise MiniragError(
                f"A plan has epochs and validation from 0, batch and patience from 1; got {self!r}."
            )


def chosen_device(name=None):
    """The torch device of this name; None takes a GPU if there is one. Raises MiniragError for a
    device that this machine does not have.
    """
    try:
        device = torch.device(name or ("cuda" if torch.cuda.is_available() else "cpu"))
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        why = str(error).splitlines()[0][:150]
        raise MiniragError(
            f"The device {name!r} cannot be used here ({why}). Choose 'cpu' or 'cuda', or none for a GPU if there is one."
        ) from error
    return device


@dataclass
class Report:
    """What happened: one row of `history` an epoch, `best` (epoch and validation accuracy),
    `seconds` of training.
    """

    history: list = field(default_factory=list)
    best: dict = field(default_factory=lambda: {"epoch": None, "accuracy": -1.0})
    seconds: float = 0.0

    def __repr__(self):
        if self.best["epoch"] is None:
            return f"Report of {len(self.history)} epochs in {self.seconds:.0f} s"
        return f"Report of {len(self.history)} epochs in {self.seconds:.0f} s, best validation accuracy {self.best['accuracy']:.3f} in epoch {self.best['epoch']}"


class Trainer:
    """Trains `model` in place. collate: a `Collator`. folder: where checkpoints go; None keeps
    none.

    Source: GRAG, Sec. 4.2 (eq-11); GRAG, App. A.1 (tab-2)
    """

    def __init__(self, model, collate, plan=Plan(), folder=None):
        self.model, self.collate, self.plan = model, collate, plan
        self.checkpoint = Path(folder) / "training.safetensors" if folder is not None else None
        self.report, self.best = Report(), None

    def fit(self, train, validation, until=None):
        """Train on `train`, keep the epoch that is best on `validation`, and return the `Report`.
        `until` stops after so many epochs (for tests).
        """
        if not train:
            raise MiniragError("There is nothing to train on: no training example was given.")
        schedule = (
            [("align", epoch) for epoch in range(self.plan.alignment_epochs)]
            if self.model.settings.graph_token != "none"
            else []
        )
        schedule += [("prompt", epoch) for epoch in range(self.plan.epochs)]
        schedule = (
            schedule
            if any(parameter.requires_grad for parameter in self.model.parameters())
            else []
        )
        self.model.to(chosen_device(self.plan.device))
        done, state = self._resume(train)
        if not done and self.model.pruning is not None:
            fit_pruning(self.model, self.collate, train)
        optimizer = None
        with progress(
            total=len(schedule) * math.ceil(len(train) / self.plan.batch),
            description="training",
            unit="batch",
        ) as bar:
            for number, (phase, epoch) in enumerate(schedule[:until]):
                if number < done:
                    continue
                if optimizer is None or epoch == 0:
                    optimizer, state = (
                        self._optimizer(state if epoch else None),
                        None,
                    )  # each phase begins with a fresh one
                self._epoch(phase, epoch, train, validation, optimizer, bar)
                self._save(number + 1, optimizer, train)
                if self._out_of_patience():
                    break
        if self.best is not None:
            self.model.load_state_dict(self.best, strict=False)
        self.model.eval()
        return self.report

    def _epoch(self, phase, epoch, train, validation, optimizer, bar):
        started, plan = time.perf_counter(), self.plan
        order = torch.randperm(
            len(train), generator=torch.Generator().manual_seed(_seed(plan.seed, phase, epoch, 0))
        ).tolist()
        torch.manual_seed(_seed(plan.seed, phase, epoch, 1))
        steps = math.ceil(len(train) / plan.batch)
        total = steps * (plan.alignment_epochs if phase == "align" else plan.epochs)
        answers = self._answers(train) if phase == "align" else None
        self.model.train()
        losses = []
        for step in range(steps):
            chosen = [train[i] for i in order[step * plan.batch : (step + 1) * plan.batch]]
            batch = self.collate(chosen)
            loss = (
                self.model.alignment_loss(chosen, batch, *answers)
                if answers
                else self.model.loss(chosen, batch)
            )
            self._step(loss, optimizer, phase, (epoch * steps + step) / total)
            losses.append(loss.item())
            bar.update()
        row = {"phase": phase, "epoch": epoch, "loss": sum(losses) / len(losses)}
        if phase == "prompt":
            row["accuracy"] = accuracy(self.model, self.collate, validation[: plan.validation])
            best = self.report.best["accuracy"]
            if row["accuracy"] > best or (self.plan.later_wins and row["accuracy"] == best):
                self.report.best = {"epoch": epoch, "accuracy": row["accuracy"]}
                self.best = {
                    name: tensor.clone() for name, tensor in self.model.own_state().items()
                }
        self.report.history.append(row)
        self.report.seconds += time.perf_counter() - started

    def _step(self, loss, optimizer, phase, share):
        for group in optimizer.param_groups:
            highest = group["highest"] if phase == "prompt" else self.plan.alignment_rate
            group["lr"] = highest * group["part"] * one_cycle(share)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(_parameters(optimizer), self.plan.clip)
        optimizer.step()

    def _answers(self, train):
        """({answer: position}, unit embeddings) of the training answers."""
        answers = sorted({example.answer for example in train})
        with torch.no_grad():
            vectors = F.normalize(self.model.language.answer_vectors(answers), dim=1)
        return {answer: position for position, answer in enumerate(answers)}, vectors

    def _optimizer(self, state):
        """AdamW over what may change: the graph's part, at a rate of its own pruning, and at
        another a tuned language model.
        """
        parts = {"graph": [], "language": [], "pruning": []}
        for name, parameter in self.model.named_parameters():
            if parameter.requires_grad:
                parts.get(name.split(".")[0], parts["graph"]).append(parameter)
        rates = {
            "graph": (self.plan.rate, 1.0),
            "language": (self.plan.language_rate, 1.0),
            "pruning": (self.plan.rate, self.plan.pruning_part),
        }
        groups = [
            {"params": parameters, "highest": rates[part][0], "part": rates[part][1]}
            for part, parameters in parts.items()
            if parameters
        ]
        optimizer = torch.optim.AdamW(
            groups,
            lr=self.plan.rate,
            betas=(0.9, 0.95),
            weight_decay=self.plan.weight_decay,
            foreach=True,
        )
        if state:
            for number, parameter in enumerate(_parameters(optimizer)):
                entries = {
                    key.split(".")[2]: value
                    for key, value in state.items()
                    if key.startswith(f"optimizer.{number}.")
                }
                if entries:
                    optimizer.state[parameter] = entries
        return optimizer

    def _out_of_patience(self):
        measured = [row["accuracy"] for row in self.report.history if "accuracy" in row]
        return len(measured) > self.plan.patience and max(measured[-self.plan.patience :]) < max(
            measured
        )

    def _fingerprint(self, train):
        """Of plan, settings and examples: a checkpoint of another run must not be taken for this
        one's.
        """
        told = [
            asdict(self.plan),
            asdict(self.model.settings),
            self.model.language.tuning,
            [(e.question, e.answer, e.text) for e in train],
        ]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]

    def _save(self, done, optimizer, train):
        if self.checkpoint is None:
            return
        from safetensors.torch import save

        tensors = {
            f"model.{name}": tensor.cpu().clone() for name, tensor in self.model.own_state().items()
        }
        tensors |= {
            f"best.{name}": tensor.cpu().clone() for name, tensor in (self.best or {}).items()
        }
        for number, parameter in enumerate(_parameters(optimizer)):
            entries = optimizer.state.get(parameter, {})
            tensors |= {
                f"optimizer.{number}.{key}": torch.as_tensor(value).cpu().clone()
                for key, value in entries.items()
            }
        told = {
            "done": done,
            "report": asdict(self.report),
            "fingerprint": self._fingerprint(train),
        }
        write_atomic(self.checkpoint, save(tensors, {"minirag": json.dumps(told)}))

    def _resume(self, train):
        """(epochs done, optimizer state) of the checkpoint, whose weights are put into the model;
        (0, None) where there is none.
        """
        if self.checkpoint is None or not self.checkpoint.is_file():
            return 0, None
        told, tensors = read_checkpoint(self.checkpoint)
        if told["fingerprint"] != self._fingerprint(train):
            raise MiniragError(
                f"{self.checkpoint.parent} holds a training run with other settings or examples. Choose another folder, or delete it to start anew."
            )
        self.model.load_state_dict(
            {key[6:]: value for key, value in tensors.items() if key.startswith("model.")},
            strict=False,
        )
        self.best = {
            key[5:]: value for key, value in tensors.items() if key.startswith("best.")
        } or None
        self.report = Report(**told["report"])
        device = self.model.device
        state = {
            key: value if key.endswith(".step") else value.to(device)
            for key, value in tensors.items()
            if key.startswith("optimizer.")
        }
        return told["done"], state


def read_checkpoint(path):
    """(what was told of the run, {name: tensor}) of a checkpoint. Raises MiniragError for a damaged
    or foreign file.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="pt") as file:
            return json.loads((file.metadata() or {})["minirag"]), {
                name: file.get_tensor(name) for name in file.keys()
            }
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise MiniragError(
            f"{path} is no checkpoint of a training run ({error}). Delete it and train again."
        ) from error


def one_cycle(share):
    """Factor of the learning rate when this share of the steps is done: up in a straight line, then
    down along a cosine.
    """
    if share < WARM:
        return (share + 0.01) / (WARM + 0.01)
    return 0.5 * (1 + math.cos(math.pi * (share - WARM) / (1 - WARM)))


def fit_pruning(model, collate, examples):
    """Standardise the distances that pruning sees by those of these examples, of the first 2,048."""
    model.pruning.fit(
        [
            collate(examples[start : start + 256]).to(model.device)
            for start in range(0, min(len(examples), 2048), 256)
        ]
    )


def _parameters(optimizer):
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def _seed(*parts):
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:6], "big")


def write_all(model, collate, examples, batch=128):
    """The model's answers, one string an example. Prompts of about the same length are read
    together, since a batch is as wide as its longest.
    """
    model.eval()
    order = sorted(
        range(len(examples)), key=lambda place: len(model.language.prompt_ids(examples[place]))
    )
    written = {}
    for start in range(0, len(order), batch):
        places = order[start : start + batch]
        part = [examples[place] for place in places]
        written |= zip(places, model.write(part, collate(part)))
    return [written[place] for place in range(len(examples))]


def accuracy(model, collate, examples):
    """Share of examples whose written answer is the expected one, but for case and outer space."""
    if not examples:
        return 0.0
    written = write_all(model, collate, examples)
    return sum(
        text.strip().casefold() == example.answer.strip().casefold()
        for text, example in zip(written, examples)
    ) / len(examples)
