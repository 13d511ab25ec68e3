import { AgentBoxError } from "../../src/base/errors.ts";
import { omitUndefined } from "../../src/base/omit-undefined.ts";
import type { SecretInfo } from "../../src/contract/secret/secret.ts";
import type { Connections } from "../../src/ports/connections.ts";
import type { Forges } from "../../src/ports/forge.ts";
import type { Injection } from "../../src/ports/injection.ts";
import type { SshKeys } from "../../src/ports/ssh-keys.ts";
import type { NewSecret, SecretValue, Vault } from "../../src/ports/vault.ts";

interface Kept {
  readonly info: SecretInfo;
  readonly bytes: Buffer;
}

/** A vault in memory, for tests that are not about keeping. */
export function memoryVault(): Vault {
  const kept = new Map<string, Kept>();
  const get = (name: string): Kept => {
    const found = kept.get(name);
    if (found === undefined) throw new AgentBoxError("secret.not_found", `There is no secret "${name}".`);
    return found;
  };
  const valueOf = ({ info, bytes }: Kept): SecretValue => ({
    kind: info.kind,
    version: info.versions.at(-1)!.version,
    bytes,
  });
  return {
    status: async () => ({ master: "keyfile", isLocked: false, secrets: kept.size }),
    unlock: async () => undefined,
    lock: async () => undefined,
    list: async () => [...kept.values()].map(({ info }) => info),
    find: async (name) => kept.get(name)?.info,
    async add({ name, kind, source, value = Buffer.alloc(0), note, cacheMs = 0 }: NewSecret) {
      const times = { createdAtMs: 0, updatedAtMs: 0, versions: [{ version: 1, createdAtMs: 0 }] };
      const info: SecretInfo = {
        name,
        kind,
        source,
        cacheMs,
        ...times,
        ...omitUndefined({ note }),
      };
      kept.set(name, { info, bytes: value });
      return info;
    },
    async rotate(name, bytes) {
      const { info } = get(name);
      const version = info.versions.at(-1)!.version + 1;
      const next = { ...info, versions: [{ version, createdAtMs: 0 }] };
      kept.set(name, { info: next, bytes });
      return next;
    },
    remove: async (name) => void kept.delete(name),
    reveal: async (name) => valueOf(get(name)),
    revealAll: async (name) => [valueOf(get(name))],
    rekey: async () => undefined,
    export: async () => Buffer.alloc(0),
    import: async () => ({ added: [], skipped: [] }),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

export const noInjection: Injection = {
  setBox: () => undefined,
  drop: () => undefined,
  manages: () => false,
  prepare: () => ({ outcome: "pass", body: undefined }),
  placeholders: () => ({}),
};

export const noSshKeys: SshKeys = {
  setBox: () => undefined,
  drop: () => undefined,
  knownHosts: async () => "",
  serve: (_box, socket) => void socket.destroy(),
  [Symbol.asyncDispose]: async () => undefined,
};

const unreachable = async (): Promise<never> => {
  throw new AgentBoxError("connection.failed", "There is nobody to sign in to.");
};

export const noConnections: Connections = {
  presets: [],
  start: unreachable,
  find: () => undefined,
  cancel: () => undefined,
  accessToken: unreachable,
  readLogin: () => {
    throw new AgentBoxError("secret.invalid", "There is no login.");
  },
  [Symbol.asyncDispose]: async () => undefined,
};

export const noForges: Forges = {
  findRemote: unreachable,
  look: unreachable,
  push: unreachable,
  openPullRequest: unreachable,
};
