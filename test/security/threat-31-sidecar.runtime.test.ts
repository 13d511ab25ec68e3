/**
 * Threat 31: the guard lives in the prison. Nothing in a box decides: whatever is killed, replaced or written there, the
 * policy is outside, and the box loses its way out rather than gaining one.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { boxPaths } from "../../src/contract/box.ts";
import { boxOn, onNetwork, recordsOf, run, script, shell } from "../support/network-ground.ts";

/** The supervisor, which is the box's proxy and resolver too; its number differs from runtime to runtime. */
const findBoxd = `
const fs = require("node:fs"), attempt = (action) => { try { return action(); } catch (error) { return error.code; } };
const words = (pid, file) => String(attempt(() => fs.readFileSync("/proc/" + pid + "/" + file, "utf8"))).split("\\0");
const pids = fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).map(Number);
const boxd = pids.find((pid) => words(pid, "cmdline")[1] === "${boxPaths.boxd}");`;

onNetwork("tampering in the box", (ground) => {
  it("finds nothing to write: not the socket's directory, not the trust store, not the resolver", async () => {
    const { daemon } = ground;
    await boxOn(daemon, "tamper", { allow: ["api.test"], rules: [{ host: "other.test", inspect: true }] });
    const attempts = [
      "echo x > /run/agentbox/policy.json",
      "rm -f /run/agentbox/link.sock",
      "mv /run/agentbox/link.sock /run/agentbox/other",
      "echo x >> /etc/ssl/certs/ca-certificates.crt",
      "echo x >> /run/agentbox/box.json",
      "mount -t tmpfs none /run/agentbox",
      "umount /etc/ssl/certs/ca-certificates.crt",
      "ip link add veth0 type veth",
      "ip addr add 198.51.100.99/24 dev lo",
      "ip route add default dev lo",
      "nft flush ruleset",
      "unshare --net true && unshare --user --net ip link set lo up && false",
      // Some versions of it succeed where they may not write.
      "sysctl -w net.ipv4.ip_forward=1 && grep -qx 1 /proc/sys/net/ipv4/ip_forward",
    ];
    for (const attempt of attempts)
      expect((await shell(daemon, "tamper", attempt)).code, attempt).not.toBe(0);
    // The control: the way out still works, and so does the inspected one.
    expect(
      (await shell(daemon, "tamper", "curl -sSf http://api.test/x && curl -sSf https://other.test/x")).code,
    ).toBe(0);
  });

  it("gains nothing by taking over the box's own resolver and ports", async () => {
    const { daemon, network } = ground;
    await boxOn(daemon, "takeover", { allow: ["api.test"] });
    // A program in the box that answers another one changes where that one connects, inside.
    const taken = await script<Record<string, string>>(
      daemon,
      "takeover",
      `const net = require("node:net"), dgram = require("node:dgram"), out = {};
       const listen = (port, host) => new Promise((done) => { const server = net.createServer(); server.on("error", (error) => done(error.code));
         server.listen({ port, host, exclusive: true }, () => done("listening")); });
       const bind = () => new Promise((done) => dgram.createSocket({ type: "udp4", reuseAddr: true }).on("error", (error) => done(error.code)).bind(53, "127.0.0.1", () => done("bound")));
       (async () => { out.proxy = await listen(3128, "127.0.0.1"); out.dns = await listen(53, "127.0.0.1"); out.udp = await bind();
         console.log(JSON.stringify(out)); process.exit(0); })();`,
    );
    expect(taken["proxy"]).toBe("EADDRINUSE");
    expect(taken["dns"]).toBe("EADDRINUSE");
    const direct = "curl -sS -m 5 --noproxy '*' --resolve denied.test:80:198.51.100.10 http://denied.test/";
    expect((await shell(daemon, "takeover", direct)).code).not.toBe(0);
    // An address of the box's own that stands for an allowed name does not carry another one.
    const borrowed =
      "curl -sS -m 5 --noproxy '*' --connect-to denied.test:80:api.test:80 -w '%{http_code}' http://denied.test/";
    const answer = await shell(daemon, "takeover", borrowed);
    expect(answer.stdout).not.toContain("the internet");
    expect(await network.arrivals()).toEqual([]);
    expect((await shell(daemon, "takeover", "curl -sSf http://api.test/x")).code).toBe(0);
  });

  it("has no network when the supervisor is gone, and the host notices", async () => {
    const { daemon, network } = ground;
    await boxOn(daemon, "no-guard", { allow: ["api.test"] });
    expect((await shell(daemon, "no-guard", "curl -sSf http://api.test/x")).code).toBe(0);
    await network.forget();
    await run(daemon, "no-guard", [
      "node",
      "-e",
      `${findBoxd}
       fs.writeFileSync("/workspace/boxd", String(boxd));
       for (const signal of ["SIGSTOP", "SIGKILL"]) process.kill(boxd, signal);
       for (const name of ["api.test", "denied.test"]) require("node:child_process").spawnSync("curl", ["-sS", "-m", "3", "http://" + name + "/after"]);`,
    ]);
    const { paths } = await daemon.client.getBox("no-guard");
    // The control: it was found, and it was not the box's first process, which no program inside can end.
    expect(Number(readFileSync(join(paths.workspace, "boxd"), "utf8"))).toBeGreaterThan(1);
    await waitFor(
      "the box has ended",
      async () => (await daemon.client.getBox("no-guard")).box.state.phase !== "running",
    );
    expect((await network.arrivals()).filter(({ kind }) => kind === "http")).toEqual([]);
  });

  it("holds nothing that decides: no token, no name of a host, and no other place to listen", async () => {
    const { daemon } = ground;
    await boxOn(daemon, "reader", { allow: ["api.test"] });
    const seen = await script<{ texts: string; names: string[]; writes: Record<string, string> }>(
      daemon,
      "reader",
      `${findBoxd}
       const files = ["box.json", "sealed", "token", "policy.json"].map((name) => attempt(() => fs.readFileSync("/run/agentbox/" + name, "utf8")));
       const texts = [words(boxd, "environ"), words(boxd, "cmdline"), words(1, "environ"), words(1, "cmdline"), files].flat().join("\\n");
       const listen = (path) => new Promise((done) => require("node:net").createServer().on("error", (error) => done(error.code)).listen(path, () => done("listening")));
       const write = async (path) => [path, [attempt(() => fs.unlinkSync(path)), await listen(path)].join(" ")];
       (async () => { const writes = Object.fromEntries([await write("/run/agentbox/link.sock"), await write("/run/agentbox/second.sock"), await write("/tmp/own.sock")]);
         console.log(JSON.stringify({ texts, names: words(boxd, "environ").filter(Boolean).map((word) => word.split("=")[0]).sort(), writes })); process.exit(0); })();`,
    );
    // The controls: what was read is boxd's, and where the box may write it can listen.
    expect(seen.texts).toContain("HTTP_PROXY");
    expect(seen.writes["/tmp/own.sock"]).toBe("ENOENT listening");
    // bubblewrap adds where it starts.
    expect(seen.names.filter((name) => name !== "PWD")).toEqual(["HOME", "LANG", "PATH", "TERM", "USER"]);
    expect(seen.texts).not.toMatch(/token|bearer|password|api\.test/i);
    for (const socket of ["/run/agentbox/link.sock", "/run/agentbox/second.sock"])
      expect(seen.writes[socket], socket).toMatch(/^E[A-Z]+ E[A-Z]+$/);
    expect((await shell(daemon, "reader", "curl -sSf http://api.test/x")).code).toBe(0);
  });

  it("says who it is by its socket, not by what it says", async () => {
    const { daemon } = ground;
    await boxOn(daemon, "poor", { allow: [] });
    // More keys than the hello has, such as another box's name, are no hello at all.
    const said = await script<string>(
      daemon,
      "poor",
      `const socket = require("node:net").connect("/run/agentbox/link.sock"); const parts = [];
       const text = Buffer.from(JSON.stringify({ role: "gate", protocol: 1, via: "tcp", host: "api.test", port: 80, box: "tamper" })), head = Buffer.alloc(5);
       head.writeUInt32BE(text.length + 1); socket.write(Buffer.concat([head, text])); socket.write("GET /x HTTP/1.1\\r\\nHost: api.test\\r\\n\\r\\n");
       socket.on("data", (chunk) => parts.push(chunk)).on("error", () => {}).on("close", () => console.log(JSON.stringify(Buffer.concat(parts).toString("latin1"))));
       setTimeout(() => socket.destroy(), 2000).unref();`,
    );
    expect(said).not.toContain("the internet");
    expect((await recordsOf(daemon, "poor")).filter(({ verdict }) => verdict === "allow")).toEqual([]);
  });
});
