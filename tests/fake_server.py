"""A chat-completions server on loopback that does as it is told: answer, refuse, stall, or break
off.
"""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ENTITIES = '{"named_entities": ["Selm", "Veldania"]}'


def chat_reply(text, prompt_tokens=7, completion_tokens=3):
    """The JSON body of a well-formed reply."""
    usage = {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    }
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }


class FakeServer:
    """`with FakeServer(script) as server:` serves at `server.url`; `server.requests` holds (path,
    headers with lower-case names, body).

    script: actions, used up one per request; after them `decide`(body) gives the action, by default
    to answer `reply`(body). An action is ("ok", text), ("status", code, headers, message), ("hang",
    seconds), ("cut",), ("drop",), ("raw", bytes).
    """

    def __init__(self, script=(), reply=lambda body: ENTITIES, decide=None, delay=0.0):
        self.script, self.delay = list(script), delay
        self.decide = decide or (lambda body: ("ok", reply(body)))
        self.requests, self.lock, self.stopping = [], threading.Lock(), threading.Event()

    def __enter__(self):
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                fake.handle(self)

            def log_message(self, *arguments):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"
        threading.Thread(
            target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()
        return self

    def __exit__(self, *error):
        self.stopping.set()
        self.http.shutdown()
        self.http.server_close()

    def handle(self, handler):
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        with self.lock:
            self.requests.append(
                (
                    handler.path,
                    {name.lower(): value for name, value in handler.headers.items()},
                    body,
                )
            )
            action = self.script.pop(0) if self.script else self.decide(body)
        time.sleep(self.delay)
        try:
            getattr(self, "do_" + action[0])(handler, *action[1:])
        except (BrokenPipeError, ConnectionResetError):
            handler.close_connection = True

    def do_ok(self, handler, text):
        self.do_raw(handler, json.dumps(chat_reply(text)).encode())

    def do_raw(self, handler, data, code=200, headers=(), announced=None):
        handler.send_response(code)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(announced or len(data)),
            **dict(headers),
        }.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)

    def do_status(self, handler, code, headers=(), message="no"):
        self.do_raw(
            handler,
            json.dumps(
                {"error": {"message": message, "type": "x", "param": None, "code": None}}
            ).encode(),
            code,
            headers,
        )

    def do_hang(self, handler, seconds):
        self.stopping.wait(seconds)
        handler.close_connection = True

    def do_cut(self, handler):
        """Half of the announced body, then the end of the connection."""
        data = json.dumps(chat_reply(ENTITIES)).encode()
        self.do_raw(handler, data[: len(data) // 2], announced=len(data))
        handler.close_connection = True

    def do_drop(self, handler):
        """The end of the connection in place of a reply."""
        handler.close_connection = True
