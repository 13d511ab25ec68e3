/**
 * Threat 13: a secret comes back by a redirect, an echo, TRACE, a header, an error or a packed body. The server here repeats
 * it in every way it can; the box sees stars, over every version of HTTP.
 */
import { expect, it } from "vitest";
import { repeats } from "../support/canary-search.ts";
import { expectDenied, recordsOf, script, shell, withoutProxy } from "../support/network-ground.ts";
import { grantedBox, mirrorEntry, onVault, receiptsOf, requestsTo } from "../support/vault-ground.ts";

const box = "mirrored";
const manifest = `[network]\nallow = ["mirror.test:80"]\n[[network.rules]]\nhost = "other.test"\ninspect = true\n${mirrorEntry}`;

/** Ways in which the server repeats what it was sent. */
const echoes = [
  "echo",
  "error",
  "headers",
  "pieces",
  "packed/gzip",
  "packed/deflate",
  "packed/br",
  "redirect?to=x",
];

onVault(
  "a server that repeats the secret",
  (ground) => {
    it("does repeat it to whoever sends it, as the control", async () => {
      const { network, canary } = ground;
      for (const path of echoes.filter((one) => !one.startsWith("packed"))) {
        const argv = ["curl", "-sSi", "-H", `Authorization: Bearer ${canary}`, `https://mirror.test/${path}`];
        const { stdout, stderr } = await network.onHost(argv);
        expect(stdout, stderr).toContain("the end");
        expect(repeats(stdout, canary), path).toBe(true);
      }
    });

    for (const [way, flags] of [
      ["HTTP/1.1 through the proxy", "--http1.1"],
      ["HTTP/2 through the proxy", "--http2"],
      ["HTTP/2 without it", "--http2"],
    ] as const) {
      it(`shows the box stars over ${way}`, async () => {
        const { daemon, canary } = ground;
        const prefix = way.endsWith("without it") ? `${withoutProxy.join(" ")} ` : "";
        const before = (await recordsOf(daemon, box)).length;
        for (const path of echoes) {
          const curl = `${prefix}curl -sSi ${flags} -H "Authorization: Bearer $MIRROR_TOKEN" "https://mirror.test/${path}"`;
          const { stdout, stderr } = await shell(daemon, box, curl);
          expect(stdout, `${path} ${stderr}`).toContain("the end");
          expect(stdout, path).toMatch(/\*{20,}/);
          expect(repeats(stdout, canary), path).toBe(false);
          expect(stdout, path).not.toMatch(/set-cookie|content-encoding/i);
        }
        const sent = await requestsTo(ground, "mirror.test");
        expect(sent).toHaveLength(echoes.length);
        for (const { headers } of sent) expect(headers["authorization"]).toBe(`Bearer ${canary}`);
        const receipts = (await receiptsOf(daemon, box, before + echoes.length)).slice(before);
        for (const receipt of receipts) expect(receipt).toMatchObject({ secret: "token", isInjected: true });
      });
    }

    it("says nothing at all where the answer is packed in a way that nobody reads", async () => {
      const { daemon } = ground;
      await expectDenied(daemon, box, { reason: "secret_in_answer", secret: "token" }, async () => {
        const { stdout } = await shell(daemon, box, "curl -sSi https://mirror.test/packed/x-own");
        expect(stdout).toMatch(/\nHTTP\/2 502/);
        expect(stdout).not.toContain("dne eht");
      });
      // It asked for an answer that can be read.
      const [sent] = await requestsTo(ground, "mirror.test");
      expect(sent?.headers["accept-encoding"]).toBe("identity");
    });

    it("refuses TRACE, which repeats a request by its nature", async () => {
      const { daemon } = ground;
      for (const flags of ["--http1.1", "--http2"])
        await expectDenied(daemon, box, { host: "mirror.test", method: "TRACE" }, async () => {
          const { stdout } = await shell(daemon, box, `curl -sSi ${flags} -X TRACE https://mirror.test/echo`);
          expect(stdout).toMatch(/\nHTTP\/[\d.]+ 403/);
        });
      expect(await requestsTo(ground, "mirror.test")).toEqual([]);
    });

    it("cannot send the box elsewhere with it: another host, scheme or port gets a request without", async () => {
      const { daemon, canary } = ground;
      for (const flags of ["--http1.1", "--http2"]) {
        for (const to of ["https://other.test/x", "http://mirror.test/x"]) {
          await ground.network.forget();
          const { stdout } = await shell(
            daemon,
            box,
            `curl -sSiL ${flags} "https://mirror.test/redirect?to=${to}"`,
          );
          expect(stdout).toMatch(/location: \S+\*{20,}/i);
          const all = (await ground.network.arrivals()).filter(({ kind }) => kind === "http");
          const [first, second] = [all[0]!, all[1]!];
          // The control: the first had it.
          expect(JSON.stringify(first)).toContain(canary);
          expect(second).toMatchObject({ url: expect.stringMatching(/^\/x/) });
          expect(repeats(JSON.stringify(second), canary)).toBe(false);
          expect(second).not.toHaveProperty("headers.authorization");
        }
      }
      // A client that carries its header along brings a placeholder, and not even that arrives.
      await ground.network.forget();
      await expectDenied(daemon, box, { host: "other.test", reason: "secret_misplaced" }, () =>
        shell(
          daemon,
          box,
          'curl -sSiL --location-trusted -H "Authorization: Bearer $MIRROR_TOKEN" "https://mirror.test/redirect?to=https://other.test/x"',
        ),
      );
      expect(await requestsTo(ground, "other.test")).toEqual([]);
      await expectDenied(daemon, box, { host: "mirror.test", port: 8443 }, () =>
        shell(daemon, box, 'curl -sSL "https://mirror.test/redirect?to=https://mirror.test:8443/x"'),
      );
    });

    it("is masked in what a WebSocket says", async () => {
      const { daemon, canary } = ground;
      const client = `const tls = require("node:tls"), socket = tls.connect(443, "mirror.test", { servername: "mirror.test" }, () =>
          socket.write("GET /socket HTTP/1.1\\r\\nHost: mirror.test\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\nSec-WebSocket-Version: 13\\r\\nSec-WebSocket-Extensions: permessage-deflate\\r\\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n"));
        let text = ""; const end = () => { console.log(JSON.stringify(text)); process.exit(0); };
        socket.on("data", (chunk) => { text += chunk.toString("latin1"); if (text.includes("the end")) end(); }).on("close", end);`;
      const said = await script<string>(daemon, box, client);
      expect(said).toMatch(/101[\s\S]*you are Bearer \*{20,}, the end/);
      expect(repeats(said, canary)).toBe(false);
      const [sent] = await requestsTo(ground, "mirror.test");
      expect(sent?.headers["authorization"]).toBe(`Bearer ${canary}`);
    });
  },
  { prepare: ({ daemon }) => grantedBox(daemon, box, manifest) },
);
