// The load of the gate's rows: the same bytes run in a box and outside of it. Plain Node, no packages, and as little
// work of its own as possible, because it shares the cores with what is measured. Its one argument says what to do, its
// one line of output is the result.
import { lookup } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { connect as connectTls, createSecureContext } from "node:tls";

const spec = JSON.parse(process.argv[2]);
const headEnd = Buffer.from("\r\n\r\n");
const secureContext = spec.ca && createSecureContext({ ca: readFileSync(spec.ca) });
/** Asked once: what is measured is connections, not the resolver of the system. */
const address = spec.proxy ? undefined : (await lookup(spec.host, { family: 4 })).address;

/** Calls back with what comes until it says true; a connection that ends before that is an error. */
function receive(socket, isWhole) {
  return new Promise((resolve, reject) => {
    const over = (error) => {
      socket.off("data", onData).off("error", over).off("close", over);
      if (error === true) resolve();
      else reject(error instanceof Error ? error : new Error("the connection ended early"));
    };
    const onData = (chunk) => {
      if (isWhole(chunk)) over(true);
    };
    socket.on("data", onData).on("error", over).on("close", over);
  });
}

const isHead = (chunk) => {
  const text = chunk.toString("latin1");
  if (!text.startsWith("HTTP/1.1 200")) throw new Error(`refused: ${text}`);
  return text.endsWith("\r\n\r\n");
};

async function open() {
  const [proxyHost, proxyPort] = spec.proxy?.split(":") ?? [];
  let socket = connect({ host: proxyHost ?? address, port: Number(proxyPort ?? spec.port), noDelay: true });
  if (spec.proxy) {
    socket.write(`CONNECT ${spec.host}:${spec.port} HTTP/1.1\r\nHost: ${spec.host}:${spec.port}\r\n\r\n`);
    await receive(socket, isHead);
  }
  if (spec.tls) {
    const secure = connectTls({ socket, servername: spec.host, secureContext, ALPNProtocols: ["http/1.1"] });
    await new Promise((resolve, reject) => secure.once("secureConnect", resolve).once("error", reject));
    socket = secure;
  }
  return socket;
}

const requestFor = (path) =>
  Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${spec.host}\r\nAccept: */*\r\nUser-Agent: load\r\n\r\n`);

/** One answer: its head, then as many bytes as that says. */
async function exchange(socket, request) {
  let left;
  let early = Buffer.alloc(0);
  const answered = receive(socket, (chunk) => {
    if (left === undefined) {
      early = early.length === 0 ? chunk : Buffer.concat([early, chunk]);
      const at = early.indexOf(headEnd);
      if (at < 0) return false;
      const head = early.toString("latin1", 0, at);
      const length = /\r\ncontent-length: (\d+)/i.exec(head);
      if (!head.startsWith("HTTP/1.1 200") || !length)
        throw new Error(`an answer that was not meant: ${head}`);
      left = Number(length[1]) - (early.length - at - headEnd.length);
    } else left -= chunk.length;
    return left === 0;
  });
  socket.write(request);
  await answered;
}

/** MB/s of one download, without the connecting; plain TCP asks in one line, TLS in HTTP. */
async function download() {
  const socket = await open();
  const startedMs = performance.now();
  if (spec.tls) await exchange(socket, requestFor(`/bytes/${spec.bytes}`));
  else {
    let left = spec.bytes;
    const whole = receive(socket, (chunk) => (left -= chunk.length) === 0);
    socket.write(`bytes ${spec.bytes}\n`);
    await whole;
  }
  const seconds = (performance.now() - startedMs) / 1000;
  socket.destroy();
  return { rate: spec.bytes / 1e6 / seconds };
}

/** Runs `one` from `concurrency` workers: `count` times, or for `measureMs` after a warm-up that is not counted. */
async function repeat(makeWorker) {
  const startedMs = performance.now();
  const warmMs = startedMs + (spec.warmupMs ?? 0);
  const endMs = spec.count === undefined ? warmMs + spec.measureMs : Infinity;
  let started = 0;
  let counted = 0;
  const times = [];
  const worker = async () => {
    const one = await makeWorker();
    while (started < (spec.count ?? Infinity) && performance.now() < endMs) {
      started += 1;
      const beforeMs = performance.now();
      await one();
      const afterMs = performance.now();
      if (beforeMs < warmMs || afterMs > endMs) continue;
      counted += 1;
      times.push(afterMs - beforeMs);
    }
    one.close?.();
  };
  await Promise.all(Array.from({ length: spec.concurrency }, worker));
  times.sort((a, b) => a - b);
  const seconds = (spec.count === undefined ? spec.measureMs : performance.now() - startedMs) / 1000;
  return { rate: counted / seconds, p50: times[Math.floor(times.length / 2)], count: counted };
}

/** Connect, one line there and one back, close. */
const connections = () =>
  repeat(async () => async () => {
    const socket = await open();
    const answered = receive(socket, (chunk) => chunk.length > 0);
    socket.write("ping\n");
    await answered;
    await new Promise((resolve) => socket.on("error", resolve).on("close", resolve).end());
  });

/** Small requests, one after another on a connection that stays open. */
const requests = () =>
  repeat(async () => {
    const socket = await open();
    const request = requestFor("/small/one");
    return Object.assign(() => exchange(socket, request), { close: () => socket.destroy() });
  });

const result = await { download, connections, requests }[spec.kind]();
process.stdout.write(`${JSON.stringify(result)}\n`);
