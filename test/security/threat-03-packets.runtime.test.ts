/**
 * Threat 3: packets of any unusual kind. The box has loopback and nothing else, so every family ends in it. Controls
 * are real listeners on the host, which the very same program reaches from the host.
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { chmodSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { constants, networkInterfaces } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  compile,
  compilerMissing,
  emptyBox,
  type Ground,
  inBox,
  nodeInBox,
  nodeOnHost,
  onEachDaemon,
  runtimeName,
} from "./attack.ts";
import { runProgram } from "../support/program.ts";

interface Listeners {
  readonly tcpPort: number;
  readonly udpPort: number;
  readonly abstractName: string;
  /** The connections that got through, of any kind. */
  readonly reached: string[];
  close(): void;
}

async function listen(): Promise<Listeners> {
  const reached: string[] = [];
  const servers: Server[] = [];
  const accept = (what: string) => {
    const server = createServer((socket) => {
      reached.push(what);
      socket.on("error", () => undefined);
      socket.end("hello");
    });
    servers.push(server);
    return server;
  };
  const tcp = accept("tcp").listen(0, "::");
  await once(tcp, "listening");
  const abstractName = `agentbox-canary-${process.pid}`;
  await once(accept("abstract").listen({ path: `\0${abstractName}` }), "listening");
  const udp = createSocket({ type: "udp6", ipv6Only: false });
  udp.on("message", (message, from) => {
    reached.push("udp");
    udp.send(message, from.port, from.address);
  });
  udp.bind(0, "::");
  await once(udp, "listening");
  return {
    tcpPort: (tcp.address() as { port: number }).port,
    udpPort: udp.address().port,
    abstractName,
    reached,
    close() {
      for (const server of servers) server.close();
      udp.close();
    },
  };
}

/** The host's own addresses that are not loopback; link-local ones with their interface. */
const hostAddresses = (): string[] =>
  Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
    addresses
      .filter(({ internal }) => !internal)
      .map(({ address }) => (address.startsWith("fe80") ? `${address}%${name}` : address)),
  );

/** Tries each address over TCP and UDP and the abstract socket; prints what happened to each. */
const dialScript = (listeners: Listeners, addresses: readonly string[]): string => `
  const net = require("node:net"), dgram = require("node:dgram"), results = {};
  const tcp = (options, name) => new Promise((done) => {
    const socket = net.connect(options);
    const end = (word) => { results[name] = word; socket.destroy(); done(); };
    socket.on("data", (text) => end(String(text))).on("error", (error) => end(error.code)).setTimeout(3000, () => end("silence"));
  });
  const udp = (address, name) => new Promise((done) => {
    const socket = dgram.createSocket(address.includes(":") ? "udp6" : "udp4");
    const end = (word) => { results[name] = word; clearTimeout(timer); try { socket.close(); } catch {} done(); };
    const timer = setTimeout(() => end("silence"), 700);
    socket.on("message", (text) => end(String(text))).on("error", (error) => end(error.code));
    socket.send("hello", ${listeners.udpPort}, address, (error) => error && end(error.code));
  });
  (async () => {
    await Promise.all([
      ...${JSON.stringify(addresses)}.flatMap((address) => [
        tcp({ host: address, port: ${listeners.tcpPort} }, "tcp " + address), udp(address, "udp " + address)]),
      tcp({ path: ${JSON.stringify(`\0${listeners.abstractName}`)} }, "abstract"),
    ]);
    console.log(JSON.stringify(results));
  })();`;

/**
 * A kernel of the box's own may make and send these: all of them end in that kernel, whose only interface is loopback.
 */
const endsInOwnKernel = ["icmp_ping", "icmp6_ping", "netlink_uevent", "send_link_local"];

const cases = (ground: Ground): void => {
  let listeners: Listeners;
  beforeAll(async () => {
    listeners = await listen();
  });
  afterAll(() => listeners.close());

  it("reach no listener of the host over TCP, UDP or an abstract socket", async () => {
    const addresses = ["127.0.0.1", "::1", ...hostAddresses()];
    const script = dialScript(listeners, addresses);
    const outside = await nodeOnHost<Record<string, string>>(script);
    // The control: from the host, the same program hears an answer from every one of them.
    expect(new Set(Object.values(outside))).toEqual(new Set(["hello"]));
    expect(listeners.reached.splice(0)).toHaveLength(addresses.length * 2 + 1);

    const inside = await nodeInBox<Record<string, string>>(ground.daemon, "packets-box", script);
    expect(Object.keys(inside).toSorted()).toEqual(Object.keys(outside).toSorted());
    for (const [name, result] of Object.entries(inside)) expect(result, name).not.toBe("hello");
    expect(inside["tcp 127.0.0.1"]).toBe("ECONNREFUSED");
    expect(inside["abstract"]).toBe("ECONNREFUSED");
    for (const address of hostAddresses()) expect(inside[`tcp ${address}`], address).toMatch(/^E/);
    expect(listeners.reached).toEqual([]);
  });

  it("have no interface but loopback and no route out of it", async () => {
    // Controls: the box's own loopback works, and the host has more than that, or a route, when it is on a network.
    const names = await nodeInBox<string[]>(
      ground.daemon,
      "packets-box",
      `const net = require("node:net"), server = net.createServer((s) => s.end()).listen(0, "127.0.0.1", () =>
         net.connect(server.address().port).on("close", () => {
           console.log(JSON.stringify(require("node:fs").readFileSync("/proc/net/dev", "utf8").split("\\n").slice(2).map((l) => l.split(":")[0].trim()).filter(Boolean)));
           server.close();
         }).resume());`,
    );
    expect(names).toEqual(["lo"]);
    const { stdout } = await inBox(ground.daemon, "packets-box", ["cat", "/proc/net/route"]);
    expect(stdout.trim().split("\n").slice(1)).toEqual([]);
    const { stdout: v6 } = await inBox(ground.daemon, "packets-box", ["cat", "/proc/net/ipv6_route"]);
    expect(v6.split("\n").filter((line) => line !== "" && !/\slo$/.test(line))).toEqual([]);
  });

  it("find no unix socket of the host by its path", async () => {
    const { daemon } = ground;
    const path = join(daemon.scratch, "host.sock");
    let visits = 0;
    const server = createServer((socket) => {
      visits++;
      socket.end("hello");
    }).listen(path);
    await once(server, "listening");
    chmodSync(path, 0o777);
    const dial = `require("node:net").connect(process.env.TARGET ?? ${JSON.stringify(path)})
      .on("data", (text) => console.log(JSON.stringify(String(text)))).on("error", (error) => console.log(JSON.stringify(error.code)));`;
    try {
      expect(await nodeOnHost(dial)).toBe("hello");
      expect(visits).toBe(1);
      expect(await nodeInBox(daemon, "packets-box", dial)).toBe("ENOENT");
      // A link in the workspace to that socket leads to nothing either, because it is followed inside.
      await inBox(daemon, "packets-box", ["ln", "-s", path, "/workspace/planted.sock"]);
      expect(await nodeInBox(daemon, "packets-box", dial.replaceAll(path, "/workspace/planted.sock"))).toBe(
        "ENOENT",
      );
      expect(visits).toBe(1);
    } finally {
      server.close();
    }
    // The control, and all there is: the box's own way to its supervisor's host side.
    const { stdout } = await inBox(daemon, "packets-box", [
      "sh",
      "-c",
      "test -S /run/agentbox/link.sock && echo link; find / -path /proc -prune -o -type s -print 2>/dev/null",
    ]);
    const [link, ...found] = stdout.trim().split("\n");
    expect(link).toBe("link");
    expect(found.filter((path) => path !== "/run/agentbox/link.sock")).toEqual([]);
  });

  it("cannot be made with a family that goes around IP", async (ctx) => {
    const missing = compilerMissing();
    if (missing) ctx.skip(missing);
    const { daemon } = ground;
    const program = await compile(join(import.meta.dirname, "families.c"));
    const outside = JSON.parse((await runProgram([program])).stdout) as Record<string, number>;
    expect((await daemon.cli(["cp", program, "packets-box:/workspace/families"])).code).toBe(0);
    const { stdout } = await inBox(daemon, "packets-box", ["/workspace/families", "send"]);
    const inside = JSON.parse(stdout) as Record<string, number>;
    // Controls: plain sockets work in the box, and outside these families exist.
    expect(inside).toMatchObject({ tcp: 0, udp: 0, unix: 0, netlink_route: 0 });
    expect(outside).toMatchObject({ tcp: 0, udp: 0, unix: 0, netlink_route: 0, netlink_uevent: 0 });
    const refused = Object.keys(inside).filter(
      (name) => !["tcp", "udp", "unix", "netlink_route"].includes(name),
    );
    expect(refused.length).toBeGreaterThan(15);
    const { guarantees } = (await daemon.client.getBox("packets-box")).box.isolation;
    const hasOwnKernel = guarantees.some(({ name, isEnforced }) => name === "own kernel" && isEnforced);
    expect(hasOwnKernel).toBe(runtimeName === "gvisor");
    const harmless = hasOwnKernel ? endsInOwnKernel : [];
    for (const name of refused) if (!harmless.includes(name)) expect(inside[name], name).not.toBe(0);
    // From an old address of the host or into the void: the kernel of the box has no way to send.
    expect(inside["send_public"]).toBe(
      hasOwnKernel ? constants.errno.EHOSTUNREACH : constants.errno.ENETUNREACH,
    );
  });
};

onEachDaemon("packets", cases, { prepare: (daemon) => emptyBox(daemon, "packets-box") });
