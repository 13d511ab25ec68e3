/**
 * Threat 57: what was judged is what the server saw, and what the server answered is what the program got, for exchanges
 * that are made from a seed and go to servers of five makes and to one that means harm. AGENTBOX_GATE_FUZZ and
 * AGENTBOX_GATE_SEED choose how many and which; a difference is named with its round, and the seed finds it again.
 */
import { describe, expect } from "vitest";
import { Differential } from "../support/gate-fuzz/differential.ts";
import { type FuzzServer, serverPrograms, servers } from "../support/gate-fuzz/servers.ts";
import { hasProgram } from "../support/host-facts.ts";
import { itUnless } from "../support/skipping.ts";

const count = Number(process.env["AGENTBOX_GATE_FUZZ"] ?? 600);
const seed = Number(process.env["AGENTBOX_GATE_SEED"] ?? 57);
const only: readonly string[] | undefined = process.env["AGENTBOX_GATE_SERVERS"]?.split(",");
/** A machine that is busy with other tests manages fifty a second. */
const timeoutMs = 300_000 + count * 20;

async function compare(names: readonly string[]) {
  const open: FuzzServer[] = [];
  try {
    for (const name of names) open.push(await servers[name]!());
    await using differential = await Differential.open(open);
    const report = (so: object): void =>
      void process.stdout.write(`${JSON.stringify({ names, seed, ...so })}\n`);
    const result = await differential.run(seed, count, report);
    report(result);
    return result;
  } finally {
    for (const server of open) await server[Symbol.asyncDispose]();
  }
}

describe("threat 57: what was judged is what the server saw", () => {
  for (const name of Object.keys(servers).filter((one) => only === undefined || only.includes(one))) {
    const program = serverPrograms[name];
    const reason = program === undefined || hasProgram(program) ? undefined : `${program} is not installed`;
    itUnless(reason)(
      `by ${name}, seed ${seed}`,
      async () => {
        const { found, exchanges, sightings, answers } = await compare([name]);
        expect(found).toEqual([]);
        // Enough of it reaches the server and is answered, or nothing would have been compared.
        expect(sightings).toBeGreaterThan(exchanges * 0.2);
        expect(answers).toBeGreaterThan(exchanges * 0.1);
      },
      timeoutMs,
    );
  }
});
