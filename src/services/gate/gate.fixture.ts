/** A gate with real sockets on both sides: programs on unix sockets as over the link, servers on loopback. */
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type RequestListener, type Server as HttpServer, createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { canonicalHost } from "../../contract/network/host-name.ts";
import { matchesPath } from "../../contract/network/path-pattern.ts";
import type { NewEgressRecord } from "../../contract/network/egress.ts";
import { type NetworkPolicy, type NetworkRule, noNetwork } from "../../contract/network/policy.ts";
import { systemClock } from "../../host/clock.ts";
import { silentLogger } from "../../host/logger.ts";
import type { ApprovalRequest, Gate, GateConnection } from "../../ports/gate.ts";
import { makeCertificate } from "./certificate.ts";
import { type DecideEgress, type GateOptions, openGate } from "./index.ts";

export function rule(name: string, port: number, more: Partial<NetworkRule> = {}): NetworkRule {
  return {
    id: `test:${name}`,
    origin: { layer: "project" },
    mode: "allow",
    host: { name, isWildcard: false },
    ports: [port],
    methods: [],
    paths: [],
    inspect: false,
    ...more,
  };
}

const policyOf = (...rules: NetworkRule[]): NetworkPolicy => ({ ...noNetwork, rules });

/** Enough of a policy for these tests; the real one is core's and has its own. */
const decide: DecideEgress = (policy, { host, port, method, path }, { nowMs }) => {
  const canonical = canonicalHost(host);
  if (canonical?.kind !== "name")
    return { outcome: "deny", host, reason: canonical ? "raw_address" : "bad_host" };
  const found = policy.rules.find((one) => one.host.name === canonical.name && one.ports.includes(port));
  const common = { host: canonical.name, rule: found };
  const exception = policy.exceptions.find((one) => one.name === canonical.name && one.port === port);
  if (!found) return { outcome: "deny", ...common, reason: "no_rule" };
  if (found.expiresAtMs !== undefined && found.expiresAtMs <= nowMs) {
    return { outcome: "deny", ...common, reason: "expired" };
  }
  if (found.mode === "ask") return { outcome: "ask", ...common, reason: "not_approved" };
  if (found.mode === "deny") return { outcome: "deny", ...common, reason: "rule_denies" };
  if (method !== undefined && found.methods.length > 0 && !found.methods.includes(method)) {
    return { outcome: "deny", ...common, reason: "wrong_method" };
  }
  const plain = path?.split("?")[0];
  if (plain !== undefined && found.paths.length > 0 && !found.paths.some((one) => matchesPath(one, plain))) {
    return { outcome: "deny", ...common, reason: "wrong_path" };
  }
  const mustInspect = found.inspect || found.methods.length > 0 || found.paths.length > 0;
  return { outcome: "allow", host: canonical.name, rule: found, mustInspect, exception };
};

export interface GateFixture extends AsyncDisposable {
  readonly gate: Gate;
  readonly dir: string;
  readonly records: NewEgressRecord[];
  readonly asked: ApprovalRequest[];
  answer: boolean | Promise<boolean>;
  setPolicy(...rules: NetworkRule[]): void;
  setWholePolicy(policy: NetworkPolicy): void;
  /** A program's connection, as boxd would open it. */
  open(connection: Omit<GateConnection, "socket">): Promise<Socket>;
  waitForRecord(matches?: (record: NewEgressRecord) => boolean): Promise<NewEgressRecord>;
}

const box = { name: "amber", incarnation: "i1" };

export async function openGateFixture(options: Partial<GateOptions> = {}): Promise<GateFixture> {
  const dir = await mkdtemp(join(tmpdir(), "gate-"));
  const records: NewEgressRecord[] = [];
  const asked: ApprovalRequest[] = [];
  const gate = await openGate({
    decide,
    clock: systemClock,
    logger: silentLogger,
    caDir: join(dir, "ca"),
    resolve: async () => ["127.0.0.1"],
    // The servers of these tests are on loopback, which the default forbids.
    isForbidden: (address) => (address === "127.0.0.1" ? undefined : "test"),
    extraAuthorities: [testAuthority.certPem],
    listener: {
      record: (record) => void records.push(record),
      ask: async (request) => {
        asked.push(request);
        return await fixture.answer;
      },
    },
    ...options,
  });
  const waiting: Omit<GateConnection, "socket">[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const next = waiting.shift();
    if (next) gate.serve(box.name, { ...next, socket });
  });
  const path = join(dir, "link.sock");
  await once(server.listen(path), "listening");
  const fixture: GateFixture = {
    gate,
    dir,
    records,
    asked,
    answer: false,
    setPolicy: (...rules) => gate.setPolicy(box, policyOf(...rules)),
    setWholePolicy: (policy) => gate.setPolicy(box, policy),
    async open(connection) {
      waiting.push(connection);
      const socket = connect({ path, allowHalfOpen: true });
      socket.on("error", () => undefined);
      await once(socket, "connect");
      return socket;
    },
    waitForRecord: (matches = () => true) => until(() => records.find(matches)),
    async [Symbol.asyncDispose]() {
      await gate[Symbol.asyncDispose]();
      await new Promise((resolve) => server.close(resolve));
      await rm(dir, { recursive: true, force: true });
    },
  };
  return fixture;
}

/** Polls until there is something, because records arrive when both ends of a connection are closed. */
export async function until<T>(find: () => T | undefined, timeoutMs = 5_000): Promise<T> {
  const endMs = Date.now() + timeoutMs;
  for (;;) {
    const found = find();
    if (found !== undefined) return found;
    if (Date.now() > endMs) throw new TypeError("it did not happen in time");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Waits until the gate has closed its end. */
export function ended(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once("end", resolve).once("close", resolve).resume();
    if (socket.readableEnded || socket.destroyed) resolve();
  });
}

export async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("latin1");
}

const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
const certificate = (dnsName?: string): string =>
  makeCertificate({
    commonName: dnsName ?? "test authority",
    issuerName: "test authority",
    publicKey: keys.publicKey,
    issuerPublicKey: keys.publicKey,
    issuerPrivateKey: keys.privateKey,
    notBeforeMs: Date.now() - 86_400_000,
    notAfterMs: Date.now() + 86_400_000,
    dnsName,
  });

const testAuthority = { certPem: certificate() };

export interface TestServer extends AsyncDisposable {
  readonly port: number;
  readonly server: Server;
}

async function listen(server: Server): Promise<TestServer> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    server,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      (server as Partial<HttpServer>).closeAllConnections?.();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const tcpServer = (accept: (socket: Socket) => void): Promise<TestServer> =>
  listen(
    createServer({ allowHalfOpen: true }, (socket) => {
      socket.on("error", () => undefined);
      accept(socket);
    }),
  );

export const httpServer = (handle: RequestListener): Promise<TestServer> => listen(createHttpServer(handle));

export const httpsServer = (name: string, handle: RequestListener): Promise<TestServer> =>
  listen(
    createHttpsServer(
      {
        key: keys.privateKey.export({ type: "pkcs8", format: "pem" }),
        cert: certificate(name) + testAuthority.certPem,
      },
      handle,
    ),
  );

/** The program's end of TLS; resolves when the handshake is done. */
export async function startTls(
  socket: Socket,
  servername: string,
  ca: string,
  protocols: string[] = [],
): Promise<ReturnType<typeof connectTls>> {
  const secure = connectTls({ socket, servername, ca, ALPNProtocols: protocols });
  secure.on("error", () => undefined);
  await new Promise<void>((resolve, reject) => {
    secure.once("secureConnect", resolve);
    secure.once("error", reject);
    secure.once("close", () => reject(new TypeError("closed")));
  });
  return secure;
}
export const testCa = testAuthority.certPem;
