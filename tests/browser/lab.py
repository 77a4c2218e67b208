"""What a reader does in JupyterLab, as few steps: open a notebook, run it, move a control, look."""

import shutil
from urllib.parse import urlsplit

# Waits on the kernel: what it was sent before has been handled when this empty request comes back.
SETTLED = (
    "async () => { await "
    "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestExecute({code: "
    "''}).done; }"
)
IDLE = """() => {
    const panel = window.jupyterapp && window.jupyterapp.shell.currentWidget;
    const session = panel && panel.sessionContext && panel.sessionContext.session;
    const kernel = session && session.kernel;
    return Boolean(kernel && kernel.status === 'idle' && panel.content.widgets.length);
}"""
LOADED = "() => Boolean(window.jupyterapp && window.jupyterapp.shell)"
OPEN = """async path => {
    await window.jupyterapp.restored;
    await window.jupyterapp.commands.execute('docmanager:open', {path, factory: 'Notebook'});
}"""
CLOSE = """async () => {
    await window.jupyterapp.serviceManager.sessions.shutdownAll();
    for (const panel of [...window.jupyterapp.shell.widgets('main')]) panel.dispose();
}"""
RUN_ALL = "async () => { await window.jupyterapp.commands.execute('notebook:run-all-cells'); }"
RUN_SOME = """async places => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.deselectAll();
    notebook.activeCellIndex = places[0];
    for (const place of places) notebook.select(notebook.widgets[place]);
    await window.jupyterapp.commands.execute('notebook:run-cell');
}"""
CELLS = """() => window.jupyterapp.shell.currentWidget.content.widgets.map(cell => {
    const said = cell.model.toJSON();
    return {kind: said.cell_type, tags: said.metadata.tags || [], count: said.execution_count,
            errors: (said.outputs || []).filter(output => output.output_type === 'error')
                .map(output => output.ename + ': ' + output.evalue)};
})"""
# From the event that a person's hand causes to the last change of what the widget shows.
WATCH = """area => {
    const shown = () => [...area.querySelectorAll('.widget-html-content, .widget-html')]
        .map(part => part.innerHTML).join('|');
    const watch = {before: shown(), moved: null, changed: null, shown};
    const start = () => { watch.moved = watch.moved || performance.now(); };
    for (const kind of ['keydown', 'change', 'click'])
        area.addEventListener(kind, start, {capture: true, once: true});
    watch.observer = new MutationObserver(() => {
        if (shown() !== watch.before) watch.changed = performance.now();
    });
    const all = {childList: true, subtree: true, characterData: true, attributes: true};
    watch.observer.observe(area, all);
    window.minirag_watch = watch;
}"""
# A busy page draws a while after the kernel has answered: what has not changed by then counts as
# unchanged.
PATIENCE = 0.4  # seconds
SEEN = """async patience => {
    const watch = window.minirag_watch;
    const end = performance.now() + 1000 * patience;
    while (watch.shown() === watch.before && performance.now() < end)
        await new Promise(later => setTimeout(later, 20));
    await new Promise(later => setTimeout(later, 20));
    watch.observer.disconnect();
    return watch.shown() === watch.before ? null : (watch.changed - watch.moved) / 1000;
}"""

# What JupyterLab itself reports on this set-up, whatever the notebook.
NOISE = ("favicon", "[webpack-dev-server]")
EMPTY_FRAMES = ("Error displaying widget", "Loading widget", "model not found")
CONTROLS = {
    "slider": ".widget-slider .noUi-handle, .widget-hslider .noUi-handle, .widget-vslider "
    ".noUi-handle",
    "dropdown": ".widget-dropdown select",
    "checkbox": ".widget-checkbox input[type=checkbox]",
    "toggle": ".widget-toggle-buttons button",
    "radio": ".widget-radio input[type=radio]",
    "button": "button.widget-button:not(.widget-toggle-buttons button)",
}


class Lab:
    """One notebook in one browser page; `complaints` collects console errors, page errors and
    refused requests.
    """

    def __init__(self, page, folder):
        self.page, self.folder = page, folder
        self.complaints, self.refused, self.cells = [], [], None
        self.listeners = {"console": self._console, "pageerror": self._error, "request": self._ask}
        page.set_default_timeout(30_000)
        for event, heard in self.listeners.items():
            page.on(event, heard)

    def leave(self):
        """Shut the kernel down and close the notebook; the next one finds the page as this did."""
        for event, heard in self.listeners.items():
            self.page.remove_listener(event, heard)
        self.page.evaluate(CLOSE)

    def _error(self, error):
        self.complaints.append(f"page error: {error}")

    def _ask(self, request):
        if urlsplit(request.url).hostname not in ("127.0.0.1", "localhost", None):
            self.refused.append(request.url)

    def _console(self, message):
        if message.type == "error" and not any(
            noise in message.text + message.location.get("url", "") for noise in NOISE
        ):
            self.complaints.append(
                f"console error: {message.text} {message.location.get('url', '')}"
            )

    def open(self, notebook):
        """Open a copy, so that nothing is saved over the original, and wait until its kernel is
        idle.
        """
        for sibling in [notebook] + [
            path
            for path in notebook.parent.iterdir()
            if path.is_dir() and not path.name.startswith(".")
        ]:
            copy = shutil.copytree if sibling.is_dir() else shutil.copy
            copy(
                sibling,
                self.folder / sibling.name,
                **({"dirs_exist_ok": True} if sibling.is_dir() else {}),
            )
        try:
            self.page.wait_for_function(LOADED, timeout=60_000)
            self.page.evaluate(OPEN, notebook.name)
            self.page.wait_for_function(IDLE, timeout=60_000)
        except Exception as error:
            said = self.page.locator("body").inner_text()[-600:]
            raise AssertionError(
                f"{notebook.name} has no idle kernel after a minute; {self.complaints} "
                f"{self.refused}; the page says: {said}"
            ) from error
        self.page.locator("#jp-main-statusbar", has_text="Idle").wait_for()

    def text(self):
        return self.page.locator(".jp-Notebook").inner_text()

    def run(self, cells=None, seconds=180):
        """Run the cells at these positions, by default all; the others keep stored outputs."""
        self.cells = cells
        self.page.set_default_timeout(seconds * 1000)
        self.page.evaluate(*((RUN_SOME, cells) if cells else (RUN_ALL,)))
        self.page.evaluate(SETTLED)
        self.page.set_default_timeout(30_000)

    def problems(self):
        """What went wrong so far: cells that did not run or raised, console errors, requests that
        left this machine.
        """
        found = [f"refused: {address}" for address in self.refused] + self.complaints
        for number, cell in enumerate(self.page.evaluate(CELLS)):
            if self.cells and number not in self.cells:
                continue
            if cell["kind"] == "code" and cell["count"] is None:
                found.append(f"cell {number} did not run")
            if cell["errors"] and "raises-exception" not in cell["tags"]:
                found.append(f"cell {number}: {cell['errors']}")
        return found + [
            f"an empty frame: {words}" for words in EMPTY_FRAMES if words in self.text()
        ]

    def round_trip(self):
        """Seconds that an empty request to the kernel takes from this page."""
        return self.page.evaluate(
            f"async () => "
            f"{{ const start = performance.now(); await ({SETTLED})(); "
            "return (performance.now() - start) / 1000; }"
        )

    def controls(self):
        """(kind, handle, output area) of every control on the page, in order; a group of buttons is
        one control.
        """
        for area in self.page.locator(".jp-Cell .jp-OutputArea").all():
            for kind, selector in CONTROLS.items():
                if kind in ("toggle", "radio"):
                    groups = area.locator(
                        {"toggle": ".widget-toggle-buttons", "radio": ".widget-radio"}[kind]
                    ).all()
                    yield from ((kind, group, area) for group in groups)
                else:
                    yield from (
                        (kind, control, area)
                        for control in area.locator(selector).all()
                        if control.is_visible()
                    )

    def move(self, kind, control, area, most=8, patience=PATIENCE):
        """Move a control until what is shown changes; the seconds that took, or None if nothing
        changes it.
        """
        moves = getattr(self, f"_{kind}")(control)
        for step, act in enumerate(moves):
            if step == most:
                return None
            area.evaluate(WATCH)
            act()
            # Twice: a control's message may wait on the page until the one before it is answered.
            self.page.evaluate(SETTLED)
            self.page.evaluate(SETTLED)
            if (seconds := self.page.evaluate(SEEN, patience)) is not None:
                return seconds
        return None

    def _slider(self, handle):
        handle.scroll_into_view_if_needed()
        for _ in range(4):
            low, high, now = (
                float(handle.get_attribute(f"aria-value{end}")) for end in ("min", "max", "now")
            )
            key = "ArrowRight" if now - low <= high - now else "ArrowLeft"
            yield lambda: handle.press(key)
        for key in ("End", "Home", "PageDown", "PageUp"):
            yield lambda: handle.press(key)

    def _dropdown(self, select):
        for _ in range(select.locator("option").count() - 1):
            # Asked again at every step: a choice may bring other options with it.
            count, now = (
                select.locator("option").count(),
                select.evaluate("select => select.selectedIndex"),
            )
            if count > 1:
                yield lambda: select.select_option(index=(now + 1) % count)

    def _checkbox(self, box):
        yield box.click

    def _toggle(self, group):
        for index in range(group.locator("button").count()):
            if "mod-active" not in group.locator("button").nth(index).get_attribute("class"):
                yield group.locator("button").nth(index).click

    def _radio(self, group):
        for index in range(group.locator("input").count()):
            if not group.locator("input").nth(index).is_checked():
                yield group.locator("input").nth(index).click

    def _button(self, button):
        yield button.click
