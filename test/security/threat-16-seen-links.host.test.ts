/**
 * Threat 16, the way in: a one-time link stands in the arguments of the browser that opens it, where every user of the
 * machine can read it. It must be good for the programs of the daemon's own user only.
 */
import { expect } from "vitest";
import { withDaemon } from "../support/daemon.ts";
import { asUserArgv, isRoot } from "../support/host-facts.ts";
import { runProgram } from "../support/program.ts";
import { itUnless } from "../support/skipping.ts";

const owner = { uid: 64_222, gid: 64_222 };
const other = { uid: 64_223, gid: 64_223 };

/** The session for the code of a link. */
async function claim(url: string, user: typeof owner): Promise<string> {
  const { origin, hash } = new URL(url);
  const body = JSON.stringify({ code: new URLSearchParams(hash.slice(1)).get("link") });
  const json = ["-H", "content-type: application/json", "-d", body];
  const curl = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", ...json, `${origin}/auth/claim`];
  return (await runProgram([...asUserArgv(user), ...curl])).stdout;
}

itUnless(isRoot ? undefined : "only root can be two other users")(
  "a link that another user of the machine has seen opens nothing for them, and nothing any more",
  () =>
    withDaemon(
      async ({ client }) => {
        expect(await claim((await client.openLink()).url, owner)).toBe("200");

        const seen = (await client.openLink()).url;
        expect(await claim(seen, other)).toBe("403");
        expect(await claim(seen, owner)).toBe("403");

        const { events } = await client.listEvents({ type: "access.refused", limit: 100 });
        expect(events.map(({ data }) => data["reason"])).toContain("user");
        expect((await client.listEvents({ type: "access.signed_in", limit: 100 })).events).toHaveLength(1);
      },
      { user: owner },
    ),
);
