/** `doctor --prove`: a box is made, everything it must refuse is tried in it, and it is removed again. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { Client } from "../../client/index.ts";
import { boxPaths } from "../../contract/box-paths.ts";
import { capture } from "../boxes/capture.ts";
import type { CommandContext } from "../command.ts";
import { withProgress } from "../render/progress.ts";
import type { Style } from "../render/style.ts";
import { plural, renderTable, shorten } from "../render/table.ts";
import type { Bench, Proof } from "./check.ts";
import { checks, provenLimits } from "./checks.ts";

export async function prove(context: CommandContext): Promise<number> {
  const { screen } = context;
  const client = await context.connect();
  const { runtime, proofs } = await withProgress(screen, "Trying what a box must refuse", () =>
    collectProofs(context, client),
  );
  const failed = proofs.filter((proof) => proof.result === "fails").length;
  if (screen.isJson) screen.printJson({ runtime, ok: failed === 0, proofs });
  else
    screen.print(
      renderProofs(runtime, proofs, screen.style, screen.streams.stdout.isTTY ? screen.size.cols : Infinity),
    );
  return failed === 0 ? 0 : 1;
}

async function collectProofs(
  { args, env }: CommandContext,
  client: Client,
): Promise<{ runtime: string; proofs: readonly Proof[] }> {
  const wanted = args.text("runtime");
  const { box } = await client.createBox({
    flags: {
      agent: { name: "shell" },
      workspace: { mode: "empty" },
      resources: await enforceableLimits(client, wanted),
      ...(wanted === undefined ? {} : { runtime: { name: wanted } }),
    },
  });
  try {
    await using bait = await layBait(env.userHome);
    await using listener = await listen();
    const { name } = box;
    const bench: Bench = {
      sh: (script) => capture(client, name, { argv: ["/bin/sh", "-c", script] }),
      node: (script) => capture(client, name, { argv: [boxPaths.node, "-e", script] }),
      atTerminal: (script) =>
        capture(client, name, { argv: ["/bin/sh", "-c", script], terminal: { cols: 80, rows: 24 } }),
      details: await client.getBox(name),
      bait,
      port: listener.port,
    };
    const proofs: Proof[] = [];
    for (const check of checks) {
      const proof = await check
        .prove(bench)
        .catch((error: unknown) => ({ result: "fails", evidence: messageOf(error) }) as const);
      proofs.push({ guarantee: check.guarantee, ...proof });
    }
    return { runtime: box.spec.runtime, proofs };
  } finally {
    await client.removeBox(box.name, { force: true }).catch(() => undefined);
  }
}

/** A limit that is asked for by name and cannot be enforced is refused, so only those that can be are asked for. */
async function enforceableLimits(
  client: Client,
  wanted: string | undefined,
): Promise<Record<string, unknown>> {
  const { runtimes } = await client.getDoctor();
  const runtime = runtimes.find(({ name, status }) =>
    wanted === undefined ? status === "ready" : name === wanted,
  );
  const names = new Set(
    runtime?.limits.filter(({ isEnforced }) => isEnforced).map(({ name }) => name.replace(/ limit$/, "")),
  );
  return Object.assign(
    {},
    ...Object.entries(provenLimits).map(([name, value]) => (names.has(name) ? value : {})),
  );
}

async function layBait(userHome: string): Promise<Bench["bait"] & AsyncDisposable> {
  const dir = await mkdtemp(join(userHome, ".agentbox-proof-"));
  const bait = { path: join(dir, "secret"), content: randomBytes(16).toString("hex") };
  await writeFile(bait.path, bait.content, { mode: 0o644 });
  return { ...bait, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
}

async function listen(): Promise<{ port: number } & AsyncDisposable> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

export function renderProofs(
  runtime: string,
  proofs: readonly Proof[],
  style: Style,
  width = Infinity,
): string {
  const longest = (texts: readonly string[]) => Math.max(0, ...texts.map((text) => text.length));
  const before =
    longest(proofs.map(({ guarantee }) => guarantee)) + longest(proofs.map(({ result }) => result)) + 6;
  const paint = {
    holds: style.green,
    fails: style.red,
    untested: style.yellow,
    "not enforced": style.yellow,
  } as const;
  const rows = proofs.map(({ guarantee, result, evidence }) => [
    guarantee,
    paint[result](result === "fails" ? "FAILS" : result),
    style.dim(shorten(printable(evidence), Math.max(20, width - before))),
  ]);
  const failed = proofs.filter((proof) => proof.result === "fails").length;
  const open = proofs.filter((proof) => proof.result !== "holds" && proof.result !== "fails").length;
  const end =
    failed === 0
      ? `${style.green("✓")} Nothing that was tried got out of the box.${open > 0 ? ` ${plural(open, "line")} above could not be proven here.` : ""}`
      : `${style.red("✗")} ${failed} of ${proofs.length} guarantees do not hold here. Do not put anything you do not trust in this runtime.`;
  return [`${style.bold("A box of the runtime")} ${runtime}`, renderTable(rows, "  "), "", end].join("\n");
}
