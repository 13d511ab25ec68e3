/**
 * Threat 11: programs that ignore the proxy, or are pointed to another. There is no direct route to fall back to: a
 * program reaches the gate or nothing. The clients themselves are in test/e2e/network-clients.test.ts.
 */
import { expect, it } from "vitest";
import { addresses } from "../support/network.ts";
import { boxOn, expectDenied, onNetwork, shell, withoutProxy } from "../support/network-ground.ts";

const box = "no-proxy";
const plain = withoutProxy.join(" ");

onNetwork(
  "programs without a proxy",
  (ground) => {
    it("reach the same gate, however they are told to avoid it", async () => {
      const { daemon, network } = ground;
      for (const way of [
        plain,
        "env NO_PROXY=* no_proxy=*",
        "env HTTP_PROXY= http_proxy=",
        "env -i PATH=/usr/bin:/bin",
      ]) {
        const allowed = await shell(daemon, box, `${way} curl -sSf -m 10 http://api.test/x`);
        expect(allowed, way).toMatchObject({ code: 0, stdout: expect.stringContaining("the internet") });
        await network.forget();
        await expectDenied(daemon, box, { host: "denied.test", reason: "no_rule" }, async () =>
          expect((await shell(daemon, box, `${way} curl -sSf -m 10 http://denied.test/x`)).code).not.toBe(0),
        );
        expect(await network.arrivals()).toEqual([]);
      }
    });

    it("find no other proxy", async () => {
      const { daemon, network } = ground;
      const packets = network.packets();
      for (const proxy of [
        `http://${addresses.web}:80`,
        `socks5h://${addresses.web}:7000`,
        `http://[${addresses.web6}]:80`,
        `http://${addresses.host}:80`,
        "http://denied.test:80",
      ])
        expect(
          (await shell(daemon, box, `curl -sSf -m 5 -x ${proxy} http://api.test/x`)).code,
          proxy,
        ).not.toBe(0);
      expect(await network.arrivals()).toEqual([]);
      expect(await network.hostArrivals()).toEqual([]);
      expect(network.packets()).toBe(packets);
    });

    it("cannot leave by any other kind of packet", async () => {
      const { daemon, network } = ground;
      const probe = `import socket, json
families = { "udp": (socket.AF_INET, socket.SOCK_DGRAM, "${addresses.web}"), "udp6": (socket.AF_INET6, socket.SOCK_DGRAM, "${addresses.web6}"),
  "tcp": (socket.AF_INET, socket.SOCK_STREAM, "${addresses.web}"), "tcp6": (socket.AF_INET6, socket.SOCK_STREAM, "${addresses.web6}"),
  "raw": (socket.AF_INET, socket.SOCK_RAW, "${addresses.web}"), "mapped": (socket.AF_INET6, socket.SOCK_DGRAM, "::ffff:${addresses.web}"),
  "metadata": (socket.AF_INET, socket.SOCK_DGRAM, "${addresses.metadata}"), "broadcast": (socket.AF_INET, socket.SOCK_DGRAM, "255.255.255.255") }
result = {}
for name, (family, kind, address) in families.items():
  try:
    s = socket.socket(family, kind, socket.IPPROTO_ICMP if kind == socket.SOCK_RAW else 0); s.settimeout(1)
    s.connect((address, 443)); s.send(b"out"); result[name] = "sent"
  except OSError as error: result[name] = error.errno or "timeout"
print(json.dumps(result))`;
      // The control: on the host the same packets arrive and are counted.
      const before = network.packets();
      const onHost = JSON.parse((await network.onHost(["/usr/bin/python3", "-c", probe])).stdout) as Record<
        string,
        unknown
      >;
      expect(onHost["udp"]).toBe("sent");
      expect(onHost["udp6"]).toBe("sent");
      expect(network.packets()).toBeGreaterThan(before);
      const packets = network.packets();
      const { stdout } = await shell(daemon, box, `/usr/bin/python3 -c '${probe}'`);
      const inBox = JSON.parse(stdout) as Record<string, unknown>;
      expect(Object.entries(inBox).filter(([, outcome]) => outcome === "sent")).toEqual([]);
      expect((await shell(daemon, box, `ping -c1 -W1 ${addresses.web}`)).code).not.toBe(0);
      expect(network.packets()).toBe(packets);
    });
  },
  { prepare: ({ daemon }) => boxOn(daemon, box, { allow: ["api.test"] }) },
);
