"""The model behind a widget, and the one view that all of them share."""

from dataclasses import dataclass

from ..core.display import not_math
from ..core.errors import MiniragError

FRAME = (
    "background:#FFFFFF;color:#1A1A1A;padding:6px;font-size:13px;max-width:780px;overflow-x:auto"
)


@dataclass(frozen=True)
class Slider:
    """A number between `low` and `high` in steps of `step`; whole numbers stay whole."""

    name: str
    label: str
    low: float
    high: float
    step: float
    value: float

    def check(self, value):
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not self.low - 1e-9 <= value <= self.high + 1e-9
        ):
            raise MiniragError(
                f"{self.name} = {value!r}: a number from {self.low:g} to {self.high:g} is expected."
            )
        nearest = self.low + round((value - self.low) / self.step) * self.step
        return int(nearest) if isinstance(self.step, int) else round(min(nearest, self.high), 6)

    def widget(self, value):
        import ipywidgets

        kind = ipywidgets.IntSlider if isinstance(self.step, int) else ipywidgets.FloatSlider
        looks = {} if isinstance(self.step, int) else {"readout_format": ".2f"}
        return kind(
            value=value,
            min=self.low,
            max=self.high,
            step=self.step,
            description=self.label,
            continuous_update=False,
            **looks,
            **_WIDE,
        )


@dataclass(frozen=True)
class Choice:
    """One of several values, each shown as a text: `options` are (text, value) pairs."""

    name: str
    label: str
    options: tuple
    value: object

    def check(self, value):
        known = [option for _, option in self.options]
        if value not in known:
            raise MiniragError(
                f"{self.name} = {value!r}: one of {', '.join(map(repr, known[:6]))}{' ...' if len(known) > 6 else ''} is expected."
            )
        return value

    def widget(self, value):
        import ipywidgets

        return ipywidgets.Dropdown(
            options=self.options,
            value=value,
            description=self.label,
            style=_STYLE,
            layout={"width": "98%"},
        )


@dataclass(frozen=True)
class Switch:
    """On or off."""

    name: str
    label: str
    value: bool

    def check(self, value):
        if not isinstance(value, bool):
            raise MiniragError(f"{self.name} = {value!r}: True or False is expected.")
        return value

    def widget(self, value):
        import ipywidgets

        return ipywidgets.Checkbox(
            value=value, description=self.label, indent=False, layout={"width": "max-content"}
        )


_STYLE = {"description_width": "initial"}
_WIDE = {"style": _STYLE, "layout": {"width": "360px"}}


class Explorer:
    """Plain state with a text (`describe`) and a picture (`html`); `view()` puts sliders on top of
    it.

    A subclass hands its controls to `__init__` and writes `describe` and `html`. Nothing here needs
    a kernel: `set` does what a moved slider does, and a moved slider calls `set`.
    """

    def __init__(self, controls):
        self.controls = {control.name: control for control in controls}
        self.state = {control.name: control.value for control in controls}
        self.widgets, self._panel, self._busy = {}, None, False

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.state.items())})"

    def set(self, name, value):
        """Change one control and redraw; returns the explorer. Raises `MiniragError` for an unknown
        name or value.
        """
        if name not in self.controls:
            raise MiniragError(
                f"{type(self).__name__} has no control {name!r}; it has: {', '.join(self.controls)}."
            )
        self.state[name] = self.controls[name].check(value)
        self.changed(name)
        self._show()
        return self

    def changed(self, name):
        """Called after a control changed and before the redraw; a subclass may adapt other controls
        here.
        """

    def describe(self):
        """The state and what it leads to, as text that is the same on every run."""
        return repr(self)

    def html(self):
        """The picture: inline SVG and tables, with all corpus text escaped."""
        return ""

    def view(self):
        """The controls above one HTML panel. Every later `set` moves the controls and redraws the
        panel.
        """
        import ipywidgets

        self.widgets = {
            name: control.widget(self.state[name]) for name, control in self.controls.items()
        }
        for name, widget in self.widgets.items():
            widget.observe(
                lambda change, name=name: self._moved(name, change["new"]), names="value"
            )
        self._panel = ipywidgets.HTML(value=self._framed())
        choices = [w for w in self.widgets.values() if isinstance(w, ipywidgets.Dropdown)]
        rest = [w for w in self.widgets.values() if not isinstance(w, ipywidgets.Dropdown)]
        rows = (
            [*choices, ipywidgets.HBox(rest, layout={"flex_flow": "row wrap"})] if rest else choices
        )
        return ipywidgets.VBox([*rows, self._panel])

    def _moved(self, name, value):
        if not self._busy:
            self.set(name, value)

    def _framed(self):
        return not_math(f'<div style="{FRAME}">{self.html()}</div>')

    def _show(self):
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
