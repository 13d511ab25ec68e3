import { AgentBoxError } from "../base/errors.ts";
import { suggest } from "../base/suggest.ts";
import type { Runtimes } from "../core/context.ts";
import type { Runtime, RuntimeModule, RuntimeProbe } from "../ports/runtime.ts";

export interface RuntimeSet extends Runtimes, AsyncDisposable {
  probe(name: string): Promise<{ module: RuntimeModule; probe: RuntimeProbe }>;
}

interface Loaded {
  readonly module: RuntimeModule;
  probe: RuntimeProbe | undefined;
}

/** Opens runtimes when they are first asked for, once each. */
export function openRuntimes(
  loaders: Readonly<Record<string, () => Promise<RuntimeModule>>>,
  boxesDir: string,
): RuntimeSet {
  const loaded = new Map<string, Promise<Loaded>>();
  const opened = new Map<string, Promise<Runtime>>();
  const listeners: ((name: string, runtime: Runtime) => void)[] = [];

  const loadModule = (name: string): Promise<Loaded> => {
    const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
    if (!load) return Promise.reject(unknown(name, Object.keys(loaders)));
    const known = loaded.get(name);
    if (known) return known;
    const loading = load().then((module) => ({ module, probe: undefined }));
    loaded.set(name, loading);
    return loading;
  };

  const open = (name: string): Promise<Runtime> => {
    const known = opened.get(name);
    if (known) return known;
    const opening = loadModule(name).then(async ({ module }) => {
      const runtime = await module.open({ boxesDir });
      for (const listener of listeners) listener(name, runtime);
      return runtime;
    });
    opened.set(name, opening);
    // What cannot be opened, such as an engine that does not run, may be there the next time.
    opening.catch(() => opened.delete(name));
    return opening;
  };

  /** What was ready stays so; what was not may have been mended meanwhile. */
  const probe = async (entry: Loaded): Promise<RuntimeProbe> => {
    if (entry.probe?.status !== "ready") entry.probe = await entry.module.probe();
    return entry.probe;
  };

  return {
    names: Object.keys(loaders),
    get: open,
    onOpen(listener) {
      listeners.push(listener);
      for (const [name, opening] of opened)
        void opening.then(
          (runtime) => listener(name, runtime),
          () => undefined,
        );
    },
    async requireReady(name) {
      const found = await probe(await loadModule(name));
      if (found.status === "ready") return open(name);
      const code = found.status === "absent" ? "runtime.absent" : "runtime.broken";
      throw new AgentBoxError(code, `The runtime "${name}" is ${found.status}: ${found.reason}.`, {
        hint: found.fix.hint,
        facts: { runtime: name, packages: [...found.fix.packages] },
      });
    },
    async probe(name) {
      const entry = await loadModule(name);
      entry.probe = undefined;
      return { module: entry.module, probe: await probe(entry) };
    },
    async [Symbol.asyncDispose]() {
      for (const opening of opened.values()) await (await opening)[Symbol.asyncDispose]();
    },
  };
}

function unknown(name: string, names: readonly string[]): AgentBoxError {
  const meant = suggest(name, names);
  return new AgentBoxError("runtime.unknown", `There is no runtime "${name.slice(0, 80)}".`, {
    hint: meant ? `Did you mean "${meant}"?` : `Choose one of: ${names.join(", ")}.`,
  });
}
