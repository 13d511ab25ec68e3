import { AgentBoxError } from "../base/errors.ts";
import { suggest } from "../base/suggest.ts";
import type { Runtimes } from "../core/context.ts";
import type { Runtime, RuntimeModule, RuntimeProbe } from "../ports/runtime.ts";

export interface RuntimeSet extends Runtimes, AsyncDisposable {
  probe(name: string): Promise<{ module: RuntimeModule; probe: RuntimeProbe }>;
}

interface Opened {
  readonly module: RuntimeModule;
  readonly runtime: Runtime;
  probe: RuntimeProbe | undefined;
}

/** Opens runtimes when they are first asked for, once each. */
export function openRuntimes(
  loaders: Readonly<Record<string, () => Promise<RuntimeModule>>>,
  boxesDir: string,
): RuntimeSet {
  const opened = new Map<string, Promise<Opened>>();

  const open = (name: string): Promise<Opened> => {
    const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
    if (!load) return Promise.reject(unknown(name, Object.keys(loaders)));
    const known = opened.get(name);
    if (known) return known;
    const opening = load().then(async (module) => ({
      module,
      runtime: await module.open({ boxesDir }),
      probe: undefined,
    }));
    opened.set(name, opening);
    opening.catch(() => opened.delete(name));
    return opening;
  };

  /** What was ready stays so; what was not may have been mended meanwhile. */
  const probe = async (entry: Opened): Promise<RuntimeProbe> => {
    if (entry.probe?.status !== "ready") entry.probe = await entry.module.probe();
    return entry.probe;
  };

  return {
    names: Object.keys(loaders),
    get: async (name) => (await open(name)).runtime,
    async requireReady(name) {
      const entry = await open(name);
      const found = await probe(entry);
      if (found.status === "ready") return entry.runtime;
      const code = found.status === "absent" ? "runtime.absent" : "runtime.broken";
      throw new AgentBoxError(code, `The runtime "${name}" is ${found.status}: ${found.reason}.`, {
        hint: found.fix.hint,
        facts: { runtime: name, packages: [...found.fix.packages] },
      });
    },
    async probe(name) {
      const entry = await open(name);
      entry.probe = undefined;
      return { module: entry.module, probe: await probe(entry) };
    },
    async [Symbol.asyncDispose]() {
      for (const entry of opened.values()) await (await entry).runtime[Symbol.asyncDispose]();
    },
  };
}

function unknown(name: string, names: readonly string[]): AgentBoxError {
  const meant = suggest(name, names);
  return new AgentBoxError("runtime.unknown", `There is no runtime "${name.slice(0, 80)}".`, {
    hint: meant ? `Did you mean "${meant}"?` : `Choose one of: ${names.join(", ")}.`,
  });
}
