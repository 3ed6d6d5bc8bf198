"""A network that loses answers: it passes requests on to the hub and drops replies on the way back."""

import http.client
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import urlsplit


class LossyProxy:
    """`lose` is how many of the next replies are dropped after the hub has done the work. Bound at once, so
    that a hub can be told to answer to this name before it starts; `target` is set when it has."""

    def __init__(self) -> None:
        self.lose = 0
        self.target = ""
        self.token: str | None = None
        self.passed: list[str] = []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                hub = http.client.HTTPConnection(urlsplit(proxy.target).netloc, timeout=10)
                hub.request(self.command, self.path, body or None, dict(self.headers))
                reply = hub.getresponse()
                content = reply.read()
                hub.close()
                proxy.passed.append(f"{self.command} {self.path.partition('?')[0]}")
                if proxy.lose > 0:
                    proxy.lose -= 1
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self.send_response(reply.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PATCH = do_DELETE = handle_one  # noqa: N815 - the server looks for these names

            def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - its name

        class Server(ThreadingHTTPServer):
            daemon_threads = False
            block_on_close = False

        self._server = Server(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self._server.server_port}"
        self.url = f"http://{self.host}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
