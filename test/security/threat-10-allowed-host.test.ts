/**
 * Threat 10: an allowed host as the way out of what it should not carry. Rules with methods and paths are about requests,
 * so reading from a host does not mean writing to it.
 */
import { expect, it } from "vitest";
import { boxOn, expectDenied, onNetwork, shell, withoutProxy } from "../support/network-ground.ts";

const box = "channel";

interface Denied {
  readonly curl: string;
  readonly reason: RegExp;
}

const denied: readonly Denied[] = [
  { curl: "-X POST -d stolen https://api.test/repo/x", reason: /wrong_method/ },
  { curl: "-T /etc/hostname https://api.test/repo/x", reason: /wrong_method/ },
  { curl: "-X DELETE https://api.test/repo/x", reason: /wrong_method/ },
  { curl: "https://api.test/v1/files", reason: /wrong_path/ },
  { curl: "--path-as-is https://api.test/repo/../v1/files", reason: /malformed|wrong_path/ },
  { curl: "--path-as-is https://api.test/repo/%2e%2e/v1/files", reason: /malformed|wrong_path/ },
  { curl: "--http2 -X POST -d stolen https://api.test/repo/x", reason: /wrong_method/ },
  { curl: "--http2 https://api.test/v1/files", reason: /wrong_path/ },
  { curl: "-X POST -d stolen http://api.test/repo/x", reason: /wrong_method/ },
];

onNetwork(
  "an allowed host",
  (ground) => {
    for (const [way, prefix] of [
      ["with the proxy variables", ""],
      ["without them", `${withoutProxy.join(" ")} `],
    ] as const) {
      it(`may be read and not written, ${way}`, async () => {
        const { daemon, network } = ground;
        for (const url of [
          "https://api.test/repo/x",
          "--http2 https://api.test/repo/x",
          "http://api.test/repo/x",
        ]) {
          const answer = await shell(daemon, box, `${prefix}curl -sSf -m 10 ${url}`);
          expect(answer, url).toMatchObject({ code: 0, stdout: expect.stringContaining("the internet") });
        }
        await network.forget();
        for (const { curl, reason } of denied)
          await expectDenied(
            daemon,
            box,
            { host: "api.test", reason: expect.stringMatching(reason) },
            async () => {
              const answer = await shell(daemon, box, `${prefix}curl -sS -m 10 -w '\\n%{http_code}' ${curl}`);
              const [body = "", status] = answer.stdout.split(/\n(?=\d+$)/);
              expect(status, `${curl}: ${answer.stdout} ${answer.stderr}`).toMatch(/^(403|400)$/);
              expect(JSON.stringify(JSON.parse(body))).toContain("AgentBox");
            },
          );
        // Not a byte of a refused body reached the host.
        expect((await network.arrivals()).filter(({ kind }) => kind === "http")).toEqual([]);
      });
    }
  },
  {
    prepare: ({ daemon }) =>
      boxOn(daemon, box, { rules: [{ host: "api.test", methods: ["GET"], paths: ["/repo/**"] }] }),
  },
);
