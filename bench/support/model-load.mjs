// The load of the model gateway's rows, with as little work of its own as possible. Its one argument says what to do, its
// one line of output is the result.
import { connect } from "node:net";

const spec = JSON.parse(process.argv[2]);
const last = Buffer.from("0\r\n\r\n");

function requestFor(model, connection) {
  const body = JSON.stringify({
    model,
    max_tokens: 1000,
    stream: true,
    messages: [{ role: "user", content: "Go on." }],
  });
  const lines = [
    `POST ${spec.path} HTTP/1.1`,
    `Host: ${spec.host}`,
    "Content-Type: application/json",
    "x-api-key: sk-agentbox-placeholder",
    `Content-Length: ${body.length}`,
    `Connection: ${connection}`,
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

const open = () =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: spec.port, noDelay: true }, () => resolve(socket));
    socket.once("error", reject);
  });

/** Milliseconds from the request to the first byte of its answer, the median of `count` on one connection. */
async function firstByte() {
  const socket = await open();
  const request = requestFor("flood-0", "keep-alive");
  const times = [];
  for (let n = 0; n < spec.count; n++) {
    const startedMs = performance.now();
    let firstMs;
    await new Promise((resolve, reject) => {
      const onData = (chunk) => {
        if (firstMs === undefined) {
          firstMs = performance.now();
          if (!chunk.subarray(0, 12).equals(Buffer.from("HTTP/1.1 200"))) reject(new Error(chunk.toString()));
        }
        if (!chunk.subarray(-last.length).equals(last)) return;
        socket.off("data", onData);
        resolve();
      };
      socket.on("data", onData);
      socket.write(request);
    });
    if (n >= spec.count / 10) times.push(firstMs - startedMs);
  }
  socket.destroy();
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length / 2)];
}

/** Bytes of one answer, read to its end. */
async function receive(model) {
  const socket = await open();
  let bytes = 0;
  socket.on("data", (chunk) => (bytes += chunk.length));
  socket.write(requestFor(model, "close"));
  await new Promise((resolve, reject) => socket.once("end", resolve).once("error", reject));
  socket.destroy();
  return bytes;
}

async function download() {
  const startedMs = performance.now();
  const bytes = await receive(`flood-${spec.bytes}`);
  if (bytes < spec.bytes) throw new Error(`only ${bytes} bytes came`);
  return bytes / 1e6 / ((performance.now() - startedMs) / 1000);
}

async function streams() {
  const all = await Promise.all(Array.from({ length: spec.count }, () => receive(`trickle-${spec.ms}`)));
  return Math.min(...all);
}

const value = await { "first-byte": firstByte, download, streams }[spec.kind]();
process.stdout.write(`${JSON.stringify({ value })}\n`);
