"""Colours and fonts for every figure: one colour-blind-safe palette that prints well on white.

The eight hues are Okabe and Ito's; text uses only the two inks, which reach a contrast of 7:1 on
white.
"""

from contextlib import contextmanager

BLUE, VERMILLION, GREEN, ORANGE = "#0072B2", "#D55E00", "#009E73", "#E69F00"
PURPLE, SKY, YELLOW, BLACK = "#CC79A7", "#56B4E9", "#F0E442", "#000000"
SERIES = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY, YELLOW, BLACK)

WHITE, INK, MUTED = "#FFFFFF", "#1A1A1A", "#555555"
EDGE, FAINT, PANEL, PALE = "#808080", "#D9D9D9", "#F5F5F5", "#E8F1F8"
OUTLINE = "#404040"

FONTS = ("DejaVu Sans", "Verdana", "Helvetica", "Arial", "sans-serif")


def _channels(colour):
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def mix(first, second, share):
    """The colour `share` (0 to 1) of the way from one `#RRGGBB` to another."""
    share = min(1.0, max(0.0, share))
    return "#" + "".join(
        f"{round(a + (b - a) * share):02X}" for a, b in zip(_channels(first), _channels(second))
    )


def ramp(share):
    """A one-hue scale of 17 steps from pale (0) to deep blue (1), readable in grey as well."""
    return mix(PALE, BLUE, round(16 * min(1.0, max(0.0, share))) / 16)


def contrast(first, second):
    """The contrast ratio of two colours after WCAG 2, from 1 (same) to 21 (black on white)."""

    def luminance(colour):
        parts = [c / 255 for c in _channels(colour)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def ink_on(fill):
    """Black or white text, whichever reads better on this fill."""
    return INK if contrast(INK, fill) >= contrast(WHITE, fill) else WHITE


@contextmanager
def style(width=6.4, height=3.6):
    """A `with` block in which matplotlib charts look like the kit's own figures. `width` and
    `height` are inches.

    The cycle pairs each colour with its own line style and marker, so that series stay apart in
    print.
    """
    import matplotlib
    from cycler import cycler

    lines = ["-", "--", "-.", ":", "-", "--", "-.", ":"]
    settings = {
        "svg.hashsalt": "minirag",
        "svg.fonttype": "none",
        "font.family": ["DejaVu Sans"],
        "font.size": 10,
        "axes.titlesize": 11,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": MUTED,
        "axes.labelcolor": INK,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.prop_cycle": cycler(color=SERIES)
        + cycler(linestyle=lines)
        + cycler(marker=list("osD^vPX*")),
        "grid.color": FAINT,
        "grid.linewidth": 0.6,
        "lines.linewidth": 1.8,
        "lines.markersize": 4.5,
        "legend.frameon": False,
        "figure.figsize": (width, height),
        "figure.dpi": 100,
        "figure.constrained_layout.use": True,
        "savefig.facecolor": WHITE,
        "text.color": INK,
        "xtick.color": MUTED,
        "ytick.color": MUTED,
    }
    with matplotlib.rc_context(settings):
        yield
