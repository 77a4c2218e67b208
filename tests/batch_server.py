"""A batch service on loopback: /v1/files, /v1/batches and the files' content, as `openai` calls
them.
"""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def body_of(text, tokens=(7, 3)):
    """A chat completion, as a service writes it."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    return {"choices": [{"index": 0, "message": message}], "usage": usage}


def line_of(request, text=None, status=200, body=None, error=None):
    """The line that answers a request: by a text, or by another body, status or error."""
    body = body_of(text) if body is None else body
    response = None if error else {"status_code": status, "request_id": "r", "body": body}
    return {"id": "b", "custom_id": request["custom_id"], "response": response, "error": error}


def dump(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


class BatchServer:
    """`with BatchServer(answer) as server:` serves at `server.url`. answer(request) gives the line
    of output, or None to leave the request out.

    states: what the next batches end as, "completed" after them. polls: looks at a batch before
    it ends. refuse: the status of every request to /batches, if not None.
    """

    def __init__(self, answer, states=(), polls=1):
        self.answer, self.states, self.polls, self.refuse = answer, list(states), polls, None
        self.files, self.batches, self.keys, self.looks = {}, {}, set(), 0

    def __enter__(self):
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                fake.handle(self, self.rfile.read(int(self.headers["Content-Length"])))

            def do_GET(self):
                fake.handle(self, None)

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
        self.http.shutdown()
        self.http.server_close()

    def handle(self, handler, data):
        self.keys.add(handler.headers["Authorization"])
        path, status = handler.path.removeprefix("/v1").split("?")[0], 200
        if path == "/files":
            assert b'name="purpose"\r\n\r\nbatch\r\n' in data
            reply = self.keep(re.search(rb"jsonl\"\r\n.*?\r\n\r\n(.*?)\r\n--", data, re.DOTALL)[1])
            reply = {"id": reply, "object": "file", "purpose": "batch"}
        elif path.endswith("/content"):
            reply = self.files[path.split("/")[2]]
        elif self.refuse:
            status, reply = self.refuse, {"error": {"message": f"no: {min(self.keys)}"}}
        elif path == "/batches" and data is not None:
            reply = self.begin(json.loads(data))
        elif path == "/batches":
            rows = [self.shown(batch) for batch in self.batches.values()]
            reply = {"object": "list", "data": rows, "has_more": False}
        else:
            reply = self.look(self.batches[path.split("/")[2]])
        data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def keep(self, data):
        self.files[f"file-{len(self.files)}"] = data
        return f"file-{len(self.files) - 1}"

    def begin(self, asked):
        assert asked["endpoint"] == "/v1/chat/completions" and asked["completion_window"] == "24h"
        requests = [json.loads(line) for line in self.files[asked["input_file_id"]].splitlines()]
        ids = [request["custom_id"] for request in requests]
        assert len(set(ids)) == len(ids)
        batch = {"id": f"batch-{len(self.batches)}", "requests": requests, "looks": 0}
        batch |= {"metadata": asked.get("metadata"), "files": (None, None)}
        batch["ends"] = self.states.pop(0) if self.states else "completed"
        self.batches[batch["id"]] = batch
        return self.shown(batch)

    def look(self, batch):
        self.looks += 1
        batch["looks"] += 1
        if batch["looks"] == self.polls + 1 and batch["ends"] != "failed":
            rows = [row for request in batch["requests"] if (row := self.answer(request))]
            good = [
                row for row in rows if row["response"] and row["response"]["status_code"] == 200
            ]
            bad = [row for row in rows if row not in good]
            batch["files"] = [
                self.keep(dump(half).encode()) if half else None for half in (good, bad)
            ]
        return self.shown(batch)

    def shown(self, batch):
        ended = batch["looks"] > self.polls
        failed = {"data": [{"code": "x", "message": "the queue is full"}]}
        return {
            "id": batch["id"],
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "created_at": 0,
            "input_file_id": "f",
            "status": batch["ends"] if ended else "in_progress",
            "metadata": batch["metadata"],
            "output_file_id": batch["files"][0],
            "error_file_id": batch["files"][1],
            "errors": failed if ended and batch["ends"] == "failed" else None,
            "request_counts": {"total": len(batch["requests"]), "completed": 0, "failed": 0},
        }
