"""The guard that keeps the tests on this machine does refuse, here and in the processes that tests
start.
"""

import socket
import subprocess
import sys

import pytest

# 192.0.2.0/24 is set aside for documentation: nothing answers there even without the guard, but the
# guard answers at once.
REACH_OUT = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=1)"


def test_a_connection_that_leaves_this_machine_is_refused():
    with pytest.raises(OSError, match="refuse every connection"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)
    with pytest.raises(OSError, match="refuse every connection"):
        socket.getaddrinfo("example.org", 443)


def test_a_child_process_is_held_to_it_too():
    child = subprocess.run([sys.executable, "-c", REACH_OUT], capture_output=True, text=True)
    assert child.returncode != 0 and "refuse every connection" in child.stderr


def test_this_machine_stays_reachable():
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname(), timeout=5) as client:
            assert client.getpeername() == server.getsockname()
