// The server of the gate's rows: HTTPS with small and endless answers on 443, the same without TLS and HTTP on 7000.
// Arguments: address, key file, certificate file. It prints a line when it listens.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createHttps } from "node:https";
import { createServer } from "node:net";

const [address, key, cert] = process.argv.slice(2);
const chunk = Buffer.alloc(256 * 1024, "agentbox ");
const small = Buffer.from(JSON.stringify({ answer: "x".repeat(100) }));

function send(sink, bytes) {
  let left = bytes;
  const more = () => {
    while (left > 0) {
      const part = left < chunk.length ? chunk.subarray(0, left) : chunk;
      left -= part.length;
      if (!sink.write(part)) {
        sink.once("drain", more);
        return;
      }
    }
    sink.end();
  };
  more();
}

const web = createHttps({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
  const bytes = /^\/bytes\/(\d+)$/.exec(request.url);
  response.writeHead(200, { "content-length": bytes ? Number(bytes[1]) : small.length });
  if (bytes) send(response, Number(bytes[1]));
  else response.end(small);
});
web.keepAliveTimeout = 60_000;

const plain = createServer({ noDelay: true }, (socket) => {
  socket.on("error", () => undefined);
  socket.once("data", (line) => {
    const bytes = /^bytes (\d+)\n$/.exec(line.toString());
    if (bytes) send(socket, Number(bytes[1]));
    else socket.write("pong\n");
  });
});

for (const [server, port] of [
  [web, 443],
  [plain, 7000],
]) {
  server.listen({ host: address, port, backlog: 1024 });
  await once(server, "listening");
}
process.stdout.write("listening\n");
