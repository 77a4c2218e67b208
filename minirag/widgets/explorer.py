"""The model behind a widget, and the one view that all of them share."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ..core.display import not_math
from ..core.errors import MiniragError
from ..viz import Figure

if TYPE_CHECKING:
    from ipywidgets import VBox, Widget

FRAME = (
    "background:#FFFFFF;color:#1A1A1A;padding:6px;font-size:13px;max-width:780px;overflow-x:auto"
)
STYLE = {"description_width": "initial"}
CELL = "style='text-align:left;vertical-align:top'"  # of a table beside the figure


@dataclass(frozen=True)
class Slider:
    """A number between `low` and `high` in steps of `step`; whole numbers stay whole."""

    name: str
    label: str
    low: float
    high: float
    step: float
    value: float

    def check(self, value: Any) -> float:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not self.low - 1e-9 <= value <= self.high + 1e-9:
            raise MiniragError(
                f"{self.name} = {value!r}: a number from {self.low:g} to {self.high:g} is expected."
            )
        nearest = self.low + round((value - self.low) / self.step) * self.step
        return int(nearest) if isinstance(self.step, int) else round(min(nearest, self.high), 6)

    def widget(self, value: float) -> "Widget":
        import ipywidgets

        kind = ipywidgets.IntSlider if isinstance(self.step, int) else ipywidgets.FloatSlider
        looks = {"description": self.label, "style": STYLE, "layout": {"width": "360px"}}
        looks |= {} if isinstance(self.step, int) else {"readout_format": ".2f"}
        scale = {"value": value, "min": self.low, "max": self.high, "step": self.step}
        return kind(**scale, **looks, continuous_update=False)


@dataclass(frozen=True)
class Choice:
    """One of several values, each shown as a text: `options` are (text, value) pairs."""

    name: str
    label: str
    options: tuple[tuple[str, Hashable], ...]
    value: Hashable

    def check(self, value: Any) -> Any:
        known = [option for _, option in self.options]
        if value not in known:
            listed = ", ".join(map(repr, known[:6])) + (" ..." if len(known) > 6 else "")
            raise MiniragError(f"{self.name} = {value!r}: one of {listed} is expected.")
        return value

    def widget(self, value: Hashable) -> "Widget":
        import ipywidgets

        looks = {"description": self.label, "style": STYLE, "layout": {"width": "98%"}}
        return ipywidgets.Dropdown(options=self.options, value=value, **looks)


@dataclass(frozen=True)
class Switch:
    """On or off."""

    name: str
    label: str
    value: bool

    def check(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise MiniragError(f"{self.name} = {value!r}: True or False is expected.")
        return value

    def widget(self, value: bool) -> "Widget":
        import ipywidgets

        looks = {"description": self.label, "indent": False, "layout": {"width": "max-content"}}
        return ipywidgets.Checkbox(value=value, **looks)


Control = Slider | Choice | Switch


class Explorer:
    """Plain state with a text (`describe`) and a picture (`html`); `view()` puts sliders on top of
    it.

    A subclass hands its controls to `__init__` and writes `describe` and `figure`, or `html` where
    there is more to show. Nothing here needs a kernel: `set` does what a moved slider does, and a
    moved slider calls `set`.
    """

    def __init__(self, *controls: Control) -> None:
        self.controls = {control.name: control for control in controls}
        self.state: dict[str, Any] = {name: c.value for name, c in self.controls.items()}
        self.widgets: dict[str, Widget] = {}
        self._panel: Widget | None = None
        self._busy = False

    def __repr__(self) -> str:
        state = ", ".join(f"{name}={value!r}" for name, value in self.state.items())
        return f"{type(self).__name__}({state})"

    def set(self, name: str, value: object) -> "Explorer":
        """Change one control and redraw; returns the explorer. Raises `MiniragError` for an unknown
        name or value.
        """
        if name not in self.controls:
            known = ", ".join(self.controls)
            raise MiniragError(f"{type(self).__name__} has no control {name!r}; it has: {known}.")
        self.state[name] = self.controls[name].check(value)
        self.changed(name)
        self._show()
        return self

    def changed(self, name: str) -> None:
        """Called after a control changed and before the redraw; a subclass may adapt other controls
        here.
        """

    def describe(self) -> str:
        """The state and what it leads to, as text that is the same on every run."""
        return repr(self)

    def figure(self) -> Figure | None:
        """The state as a drawing, if a subclass has one."""

    def html(self) -> str:
        """The picture: inline SVG and tables, with all corpus text escaped."""
        figure = self.figure()
        return figure.svg if figure else ""

    def view(self) -> "VBox":
        """The controls above one HTML panel. Every later `set` moves the controls and redraws the
        panel.
        """
        import ipywidgets

        rows: list[Widget] = []
        rest: list[Widget] = []
        for name, control in self.controls.items():
            widget = self.widgets[name] = control.widget(self.state[name])
            widget.observe(partial(self._moved, name), names="value")
            (rows if isinstance(control, Choice) else rest).append(widget)
        if rest:
            rows.append(ipywidgets.HBox(rest, layout={"flex_flow": "row wrap"}))
        self._panel = ipywidgets.HTML(value=self._framed())
        return ipywidgets.VBox([*rows, self._panel])

    def _moved(self, name: str, change: Mapping[str, object]) -> None:
        if not self._busy:
            self.set(name, change["new"])

    def _framed(self) -> str:
        return not_math(f'<div style="{FRAME}">{self.html()}</div>')

    def _show(self) -> None:
        """Bring the view, if there is one, up to date with the state."""
        if self._panel is None:
            return
        self._busy = True
        try:
            for name, widget in self.widgets.items():
                control = self.controls[name]
                if isinstance(control, Choice) and tuple(widget.options) != tuple(control.options):
                    widget.options = control.options
                if widget.value != self.state[name]:
                    widget.value = self.state[name]
        finally:
            self._busy = False
        self._panel.value = self._framed()
