"""Kernels that begin as a fork of one process which has imported the large libraries already: a
fresh kernel takes ten seconds for them, and the whole suite starts fifty. Nothing of minirag is
imported there, and no cell has been run.

`pytest notebooks/NAME.ipynb` starts kernels as Jupyter does; this is for the whole suite on Linux
and for the JupyterLab of the browser tests, which loads it as a server extension.
"""

import multiprocessing
import os
import runpy
import sys

if sys.platform == "linux":
    FORKS = multiprocessing.get_context("forkserver")
    FORKS.set_forkserver_preload(["sentence_transformers", "ipykernel.kernelapp", "ipywidgets"])


def _run(command, cwd, env, stderr, begun):
    os.setsid()  # a group of its own: signals for the kernel reach nobody else
    begun.set()
    os.chdir(cwd or os.curdir)
    os.environ.clear()
    os.environ.update(env, JPY_PARENT_PID=str(os.getppid()))  # where that ends, the kernel ends
    if stderr:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.argv = command[2:]  # without `python -m`
    runpy.run_module(command[2], run_name="__main__", alter_sys=True)


class Forked:
    """What jupyter_client uses of a `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, command, cwd=None, env=None, stderr=None, **_):
        begun = FORKS.Event()
        arguments = (command, cwd, dict(env or os.environ), stderr is not None, begun)
        self.process = FORKS.Process(target=_run, args=arguments)
        self.process.start()
        begun.wait()
        self.pid = self.process.pid

    def poll(self):
        return self.process.exitcode

    def wait(self):
        self.process.join()
        return self.process.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        self.process.kill()

    def terminate(self):
        self.process.terminate()


def use():
    """From now on this process starts its kernels so."""
    from jupyter_client.provisioning import local_provisioner

    if sys.platform == "linux":
        local_provisioner.launch_kernel = Forked


def _load_jupyter_server_extension(server):
    use()
