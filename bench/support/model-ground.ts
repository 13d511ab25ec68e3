// Where the model gateway is measured: behind a real gate, in this process; the provider and the program are processes of
// their own. The same program speaks to the provider directly for comparison.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { modelHost, modelPort } from "../../src/contract/model/api.ts";
import type { TokenUsage } from "../../src/contract/model/usage.ts";
import { type NetworkRule, noNetwork } from "../../src/contract/network/policy.ts";
import { systemClock } from "../../src/host/clock.ts";
import { silentLogger } from "../../src/host/logger.ts";
import { openGate } from "../../src/services/gate/index.ts";
import { openModelGateway } from "../../src/services/model-gateway/index.ts";
import { repository } from "../../test/support/source-files.ts";

export interface ModelLoad {
  readonly kind: "first-byte" | "download" | "streams";
  readonly count?: number;
  readonly bytes?: number;
  readonly ms?: number;
}

export interface ModelGround {
  readonly throughGateway: (load: ModelLoad) => Promise<number>;
  readonly direct: (load: ModelLoad) => Promise<number>;
  /** The tokens that the gateway has counted, and those that the provider says it has used. */
  readonly counted: () => Promise<{ metered: Tokens; sent: Tokens }>;
}

type Tokens = Pick<TokenUsage, "input" | "output">;

const box = { name: "bench", incarnation: "1" };
const rule: NetworkRule = {
  id: "bench",
  origin: { layer: "built-in" },
  mode: "allow",
  host: { name: modelHost, isWildcard: false },
  ports: [modelPort],
  methods: [],
  paths: [],
  inspect: true,
};
const sources = join(repository, "bench/support");

export async function onModelGround<T>(body: (ground: ModelGround) => Promise<T>): Promise<T> {
  const directory = mkdtempSync("/tmp/abx-bench-");
  const provider = await startProvider();
  const metered = { input: 0, output: 0 };
  await using gateway = openModelGateway({
    clock: systemClock,
    logger: silentLogger,
    keyOf: async () => ({ value: "sk-bench", form: "key" }),
    listener: {
      admit: async () => ({ outcome: "admitted", ticket: "" }),
      settle(_ticket, _request, { usage }) {
        metered.input += usage?.input ?? 0;
        metered.output += usage?.output ?? 0;
      },
      progressed: () => undefined,
      refused: () => undefined,
    },
  });
  const url = `http://127.0.0.1:${provider.port}`;
  const providers = [{ name: "anthropic", api: "anthropic" as const, baseUrl: url, keyVariable: "KEY" }];
  gateway.setBox(box, { provider: "anthropic", allow: [], aliases: {}, providers });
  await using gate = await openGate({
    decide: (_policy, { host }) => ({ outcome: "allow", host, rule, mustInspect: true }),
    listener: { record: () => undefined, ask: async () => false },
    clock: systemClock,
    logger: silentLogger,
    caDir: join(directory, "ca"),
    internalHosts: new Map([[modelHost, gateway]]),
  });
  gate.setPolicy(box, noNetwork);
  const link = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    gate.serve(box.name, { socket, via: "tcp", host: modelHost, port: modelPort }),
  );
  link.listen(0, "127.0.0.1");
  await once(link, "listening");
  const { port } = link.address() as AddressInfo;
  try {
    return await body({
      throughGateway: (load) => run({ ...load, port, host: modelHost, path: "/anthropic/v1/messages" }),
      direct: (load) => run({ ...load, port: provider.port, host: "127.0.0.1", path: "/v1/messages" }),
      counted: async () => ({ metered, sent: (await (await fetch(`${url}/totals`)).json()) as Tokens }),
    });
  } finally {
    link.close();
    provider.child.kill("SIGKILL");
    rmSync(directory, { recursive: true, force: true });
  }
}

async function startProvider(): Promise<{ child: ChildProcess; port: number }> {
  const argv = [join(sources, "model-upstream.mjs")];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { child, port: Number(line.toString()) };
}

/** Not awaited synchronously: what is measured runs in this process. */
async function run(spec: ModelLoad & { port: number; host: string; path: string }): Promise<number> {
  const argv = [join(sources, "model-load.mjs"), JSON.stringify(spec)];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`The load ended with ${code}.`);
  return (JSON.parse(Buffer.concat(chunks).toString()) as { value: number }).value;
}
