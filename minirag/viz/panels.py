"""Several figures as one: side by side, row by row."""

from .figure import Figure
from .scene import Scene


def draw_panels(figures, columns=2, title="", caption="", gap=8):
    """Figures pasted into a grid, each as wide as it was drawn; the text summaries follow one
    another.

    Draw each with `width=376` for two columns of a page.
    """
    figures = list(figures)
    rows = [figures[start : start + columns] for start in range(0, len(figures), columns)]
    width = max(sum(figure.scene.width + gap for figure in row) - gap for row in rows)
    scene, y = (
        Scene(width, sum(max(figure.scene.height for figure in row) + gap for row in rows) - gap),
        0,
    )
    for row in rows:
        x = 0
        for figure in row:
            scene.paste(figure.scene, x, y)
            x += figure.scene.width + gap
        y += max(figure.scene.height for figure in row) + gap
    return Figure(scene, "\n\n".join(figure.text for figure in figures), title, caption)
