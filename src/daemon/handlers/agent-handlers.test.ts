import { once } from "node:events";
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { AgentBoxError } from "../../base/errors.ts";
import type { InstalledTool } from "../../contract/tool.ts";
import type { Core } from "../../core/context.ts";
import type { InstallRequest, ToolStore } from "../../ports/tool-store.ts";
import { agentHandlers } from "./agent-handlers.ts";
import type { Request } from "./handlers.ts";

const tool: InstalledTool = {
  agent: "claude",
  version: "1.0.0",
  source: "npm",
  digest: "sha256:00",
  bytes: 1,
  files: 1,
  installedAtMs: 5,
};

interface World {
  readonly core: Core;
  readonly events: [string, Record<string, unknown>][];
  readonly pins: Map<string, string | undefined>;
}

function world(parts: Partial<ToolStore> = {}, boxes: readonly { version: string }[] = []): World {
  const events: [string, Record<string, unknown>][] = [];
  const pins = new Map<string, string | undefined>();
  const install = { kind: "npm", package: "p", version: "1.0.0", bin: "claude" };
  const toolStore = {
    list: async () => [],
    install: async () => tool,
    pinned: async (agent: string) => pins.get(agent),
    pin: async (agent: string, version: string | undefined) => void pins.set(agent, version),
    remove: async () => undefined,
    verify: async () => ({ isWhole: true }),
    ...parts,
  };
  const listed = boxes.map(({ version }, index) => ({
    name: `box-${index}`,
    spec: { agent: { name: "claude", version } },
  }));
  const ports = {
    agents: { claude: { name: "claude", install } },
    agentProblems: [],
    toolStore,
    store: { listBoxes: async () => listed },
    refreshAgents: async () => undefined,
    report: () => undefined,
  };
  const note = async (type: string, _box: unknown, data: Record<string, unknown>) =>
    void events.push([type, data]);
  return { core: { ports, note } as unknown as Core, events, pins };
}

const request = ({ core }: World, more: Record<string, unknown> = {}) =>
  ({ deps: { core }, params: { agent: "claude" }, query: {}, body: {}, ...more }) as unknown as Request<
    never,
    never
  >;

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Asks for an installation over a real connection, and gives the open answer. */
async function ask(here: World): Promise<IncomingMessage> {
  server = createServer((_incoming, response: ServerResponse) => {
    void agentHandlers.installAgent(request(here, { response }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const outgoing = get(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  incoming.on("error", () => undefined);
  return incoming;
}

async function readSteps(incoming: IncomingMessage): Promise<unknown[]> {
  let text = "";
  for await (const chunk of incoming) text += String(chunk);
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}

describe("installing over the API", () => {
  it("answers step by step, pins, and notes it", async () => {
    const here = world({
      async install({ onProgress }) {
        onProgress("Fetching");
        return tool;
      },
    });
    expect(await readSteps(await ask(here))).toEqual([
      { type: "progress", message: "Fetching" },
      { type: "done", tool },
    ]);
    expect(here.pins.get("claude")).toBe("1.0.0");
    expect(here.events.map(([type]) => type)).toEqual(["tool.installed"]);
  });

  it("ends with the error", async () => {
    const here = world({
      install: () => Promise.reject(new AgentBoxError("tool.unsupported", "No.", { hint: "Other." })),
    });
    expect(await readSteps(await ask(here))).toEqual([
      { type: "error", error: { code: "tool.unsupported", message: "No.", hint: "Other." } },
    ]);
    expect(here.pins.size).toBe(0);
  });

  it("is given up when whoever asked goes away", async () => {
    let given: InstallRequest | undefined;
    const here = world({
      async install(asked) {
        given = asked;
        await once(asked.signal, "abort");
        throw new AgentBoxError("tool.install_failed", "Interrupted.");
      },
    });
    const incoming = await ask(here);
    expect(given?.signal.aborted).toBe(false);
    const aborted = once(given!.signal, "abort");
    incoming.destroy();
    await aborted;
    expect(here.events).toEqual([]);
  });

  it("refuses an unknown agent before anything is sent", async () => {
    await expect(
      agentHandlers.installAgent(request(world(), { params: { agent: "claud" } })),
    ).rejects.toMatchObject({ code: "agent.unknown", hint: 'Did you mean "claude"?' });
  });
});

describe("removing and checking over the API", () => {
  const installed = { list: async () => [tool] };

  it("removes what no box uses, and its pin", async () => {
    const here = world(installed, [{ version: "0.9.0" }]);
    here.pins.set("claude", "1.0.0");
    expect(await agentHandlers.removeAgent(request(here))).toEqual({ removed: ["1.0.0"] });
    expect(here.pins.get("claude")).toBeUndefined();
    expect(here.events).toEqual([["tool.removed", { agent: "claude", version: "1.0.0" }]]);

    const used = world(installed, [{ version: "1.0.0" }]);
    await expect(agentHandlers.removeAgent(request(used))).rejects.toMatchObject({ code: "tool.in_use" });
    expect(used.events).toEqual([]);
    await expect(agentHandlers.removeAgent(request(world()))).rejects.toMatchObject({
      code: "tool.not_installed",
    });
  });

  it("says ready, absent or broken", async () => {
    const statuses = async (here: World) =>
      (await agentHandlers.checkAgents(request(here)))?.checks.map(({ status }) => status);
    expect(await statuses(world())).toEqual(["absent"]);
    expect(await statuses(world(installed))).toEqual(["ready"]);
    const changed = world({
      ...installed,
      verify: async () => ({ isWhole: false, problem: "x: it was added" }),
    });
    expect(await statuses(changed)).toEqual(["broken"]);
    expect(changed.events[0]?.[0]).toBe("tool.refused");
  });
});
