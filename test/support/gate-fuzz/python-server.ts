/** Python's http.server, as many small services use it: it reads a body only where the program asks for it. */
export const pythonServer = ({
  dir,
  http,
  https,
  log,
}: {
  dir: string;
  http: number;
  https: number;
  log: string;
}): string => `
import hashlib, json, ssl, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

log = open(${JSON.stringify(log)}, "a", buffering=1)
lock = threading.Lock()

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 3

    def note(self, digest):
        seen = {"method": self.command, "target": self.path, "host": self.headers.get("Host", ""),
                "authorization": self.headers.get("Authorization", "")}
        if digest is not None:
            seen["digest"] = digest
        with lock:
            log.write(json.dumps(seen) + "\\n")

    def body(self):
        if self.headers.get("Transfer-Encoding") is None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            return body if len(body) == length else None
        parts = []
        while True:
            size = int(self.rfile.readline().split(b";")[0] or b"x", 16)
            if size == 0:
                while self.rfile.readline() not in (b"\\r\\n", b"\\n", b""):
                    pass
                return b"".join(parts)
            part = self.rfile.read(size)
            if len(part) != size or self.rfile.readline() != b"\\r\\n":
                return None
            parts.append(part)

    def answer(self):
        behaviour = self.path.split("/")[1] if self.path.startswith("/") else ""
        if behaviour in ("early", "limited"):
            self.note(None)
            return self.say(200, b"early")
        try:
            body = self.body()
        except ValueError:
            body = None
        digest = None if body is None else hashlib.sha1(body).hexdigest()
        self.note(digest)
        if digest is None:
            self.close_connection = True
            return
        if behaviour == "close":
            self.close_connection = True
        if behaviour in ("none", "not-modified"):
            return self.say(204 if behaviour == "none" else 304, None)
        self.say(200, (digest + digest).encode(), len(digest) * 2)

    def say(self, status, body, size=None):
        self.send_response(status)
        self.send_header("X-Seen", self.path)
        if size is not None:
            self.send_header("X-Size", str(size))
        if self.close_connection:
            self.send_header("Connection", "close")
        if body is not None:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if body is not None and self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *args):
        pass

    def send_error(self, code, message=None, explain=None):
        # What it cannot read has been seen, too.
        with lock:
            log.write(json.dumps({"method": "?", "target": getattr(self, "requestline", ""), "host": "", "authorization": ""}) + "\\n")
        self.close_connection = True

for name in ("GET", "HEAD", "POST", "PUT", "OPTIONS", "DELETE", "PATCH"):
    setattr(Handler, "do_" + name, Handler.answer)

class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

plain = Server(("127.0.0.1", ${http}), Handler)
secure = Server(("127.0.0.1", ${https}), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(${JSON.stringify(`${dir}/cert.pem`)}, ${JSON.stringify(`${dir}/key.pem`)})
secure.socket = context.wrap_socket(secure.socket, server_side=True, do_handshake_on_connect=False)
threading.Thread(target=plain.serve_forever, daemon=True).start()
secure.serve_forever()
`;
