"""A real JupyterLab with real kernels, driven in a real headless browser that may reach nothing but
this machine.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import forked_kernels
import pytest
from lab import Lab

# No start-up page, no background traffic: what is asked for is what is measured.
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
    " --disable-dev-shm-usage --disable-default-apps --disable-extensions --metrics-recording-only"
).split()
SETTINGS = {
    "@jupyterlab/notebook-extension/tracker": {
        "windowingMode": "none"
    },  # every cell is on the page, scrolled into view or not
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium():
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    found = os.environ.get("MINIRAG_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if not found:
        pytest.skip(
            "no Chromium here: install your system's package `chromium`, or set "
            "MINIRAG_CHROMIUM to its path"
        )
    pytest.importorskip("playwright.sync_api", reason="no Playwright here: pip install playwright")
    return found


@pytest.fixture(scope="session")
def server(chromium, tmp_path_factory):
    """(address, folder) of a JupyterLab that serves `folder`, with no settings of the person who
    runs the tests.
    """
    home = tmp_path_factory.mktemp("jupyter")
    folder = home / "work"
    folder.mkdir()
    for name, values in SETTINGS.items():
        path = home / "settings" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")
    environment = os.environ | {
        f"JUPYTER_{kind.upper()}_DIR": str(home / kind) for kind in ("config", "data", "runtime")
    }
    environment["PYTHONPATH"] += os.pathsep + str(Path(forked_kernels.__file__).parent)
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--ip=127.0.0.1",
        "--port=0",
        "--allow-root",
        "--LabApp.expose_app_in_browser=True",
        f"--ServerApp.jpserver_extensions={{'{forked_kernels.__name__}': True}}",
    ]
    command += [
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.user_settings_dir={home / 'settings'}",
        f"--LabApp.workspaces_dir={home / 'workspaces'}",
    ]
    log = home / "lab.log"
    with open(log, "w", encoding="utf-8") as file:
        process = subprocess.Popen(
            command, env=environment, stdout=file, stderr=subprocess.STDOUT, cwd=folder
        )
    try:
        yield wait_for_server(process, home / "runtime", log), folder
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()


def wait_for_server(process, runtime, log, seconds=60):
    """The address, with its token, that the server wrote into its runtime folder."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        for path in runtime.glob("jpserver-*.json"):
            try:
                said = json.loads(path.read_text(encoding="utf-8"))
            except json.JSONDecodeError:
                continue  # half written
            return f"{said['url']}lab?reset&token={said['token']}"
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')[-3000:]}")


@pytest.fixture(scope="session")
def browser(chromium):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Whatever is not on this machine goes to a proxy that nobody runs. Stopping requests one by
        # one would switch the browser's cache off.
        running = playwright.chromium.launch(
            executable_path=chromium,
            args=FLAGS,
            proxy={"server": "http://127.0.0.1:9", "bypass": "127.0.0.1,localhost"},
        )
        yield running
        running.close()


@pytest.fixture(scope="session")
def context(browser):
    """A browser of its own that has never been here; its pages share what it has loaded of
    JupyterLab.
    """
    context = browser.new_context(viewport={"width": 1280, "height": 1600})
    yield context
    context.close()


@pytest.fixture(scope="session")
def pages(context):
    """The page in which JupyterLab stands, once it has been loaded: loading it takes longer than
    opening a notebook in it.
    """
    return []


@pytest.fixture
def lab(context, server, pages):
    """JupyterLab; `lab.open(notebook)` is the first step. Afterwards its kernel is shut down and
    the notebook is closed; a page where that fails is not used again.
    """
    address, folder = server
    if not pages:
        pages.append(context.new_page())
        pages[0].goto(address)
    lab = Lab(pages[0], folder)
    yield lab
    try:
        lab.leave()
    except Exception:
        pages.pop().close()
        raise
