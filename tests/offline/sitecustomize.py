"""Loaded by every Python process that the tests start (its folder stands on PYTHONPATH): only this
machine can be reached.
"""

import ipaddress
import socket


def _is_local(host):
    if host in (None, "", b"", "localhost", b"localhost", socket.gethostname()):
        return True
    try:
        return ipaddress.ip_address(host.decode() if isinstance(host, bytes) else host).is_loopback
    except ValueError:
        return False


def _refuse_the_network():
    connect, connect_ex, look_up = (
        socket.socket.connect,
        socket.socket.connect_ex,
        socket.getaddrinfo,
    )

    def check(host):
        if not _is_local(host):
            raise OSError(
                f"the tests refuse every connection that leaves this machine; this one wanted "
                f"{host!r}"
            )

    def guarded_connect(self, address):
        if isinstance(address, tuple):
            check(address[0])
        return connect(self, address)

    def guarded_connect_ex(self, address):
        if isinstance(address, tuple):
            check(address[0])
        return connect_ex(self, address)

    def guarded_look_up(host, *rest, **named):
        if host not in ("0.0.0.0", "::"):  # what a server that listens everywhere binds to
            check(host)
        return look_up(host, *rest, **named)

    socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo = (
        guarded_connect,
        guarded_connect_ex,
        guarded_look_up,
    )


if not getattr(socket, "_only_this_machine", False):
    socket._only_this_machine = True
    _refuse_the_network()
