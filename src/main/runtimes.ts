import { AgentBoxError } from "../base/errors.ts";
import { suggest } from "../base/suggest.ts";
import type { Runtimes } from "../core/context.ts";
import { isForTests } from "./builtins.ts";
import type { Runtime, RuntimeModule, RuntimeProbe } from "../ports/runtime.ts";

export interface RuntimeSet extends Runtimes, AsyncDisposable {
  probe(name: string): Promise<{ module: RuntimeModule; probe: RuntimeProbe }>;
}

/** Opens runtimes when they are first asked for, once each. */
export function openRuntimes(
  loaders: Readonly<Record<string, () => Promise<RuntimeModule>>>,
  boxesDir: string,
): RuntimeSet {
  const names = Object.keys(loaders);
  const offered = names.filter((name) => !isForTests(name));
  const loaded = new Map<string, Promise<RuntimeModule>>();
  const opened = new Map<string, Promise<Runtime>>();
  const listeners: ((name: string, runtime: Runtime) => void)[] = [];

  const loadModule = (name: string): Promise<RuntimeModule> => {
    const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
    if (!load) return Promise.reject(unknown(name, offered));
    const known = loaded.get(name);
    if (known) return known;
    const loading = load();
    loaded.set(name, loading);
    loading.catch(() => loaded.delete(name));
    return loading;
  };

  const open = (name: string): Promise<Runtime> => {
    const known = opened.get(name);
    if (known) return known;
    const opening = loadModule(name).then(async (module) => {
      const runtime = await module.open({ boxesDir });
      for (const listener of listeners) listener(name, runtime);
      return runtime;
    });
    opened.set(name, opening);
    // A runtime that cannot be opened, such as an engine that does not run, may be there the next time.
    opening.catch(() => opened.delete(name));
    return opening;
  };

  return {
    names,
    offered,
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
      // Every time: what was missing may have been mended meanwhile, and an engine may be away. Modules keep what holds.
      const found = await (await loadModule(name)).probe();
      if (found.status === "ready") return open(name);
      const code = found.status === "absent" ? "runtime.absent" : "runtime.broken";
      throw new AgentBoxError(code, `The runtime "${name}" is ${found.status}: ${found.reason}.`, {
        hint: found.fix.hint,
        facts: { runtime: name, packages: [...found.fix.packages] },
      });
    },
    async probe(name) {
      const module = await loadModule(name);
      return { module, probe: await module.probe() };
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
