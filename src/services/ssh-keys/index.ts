/** The keys of the host that sign for boxes over ssh: one ssh-agent process a box, and a filter before it. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { ensureDirectory } from "../../host/files.ts";
import type { Logger } from "../../host/logger.ts";
import type { SshKeys, SshKeysListener } from "../../ports/ssh-keys.ts";
import { findServers } from "./bound-servers.ts";
import { BoxKeys } from "./box-keys.ts";
import { type SshKeysLimits, sshKeysLimits } from "./limits.ts";

export interface SshKeysOptions {
  /** Ours alone: its old content is removed. Its path must be short, because sockets are in it. */
  readonly dir: string;
  readonly listener: SshKeysListener;
  /** Files of the host that say which host keys servers have, such as ~/.ssh/known_hosts. */
  readonly knownHostsFiles: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits?: Partial<SshKeysLimits> | undefined;
  /** The directories of OpenSSH's programs; the system's own by default. */
  readonly searchPath?: string | undefined;
}

export async function openSshKeys(options: SshKeysOptions): Promise<SshKeys> {
  const { dir, logger } = options;
  // Sockets of agents that ended with the daemon before this one.
  rmSync(dir, { recursive: true, force: true });
  await ensureDirectory(dir, { mode: 0o700 });
  const limits: SshKeysLimits = { ...sshKeysLimits, ...options.limits };
  const boxes = new Map<string, BoxKeys>();
  const ending = new Set<Promise<void>>();
  let count = 0;
  const newDir = (): string => {
    count += 1;
    return join(dir, String(count));
  };
  const drop = (name: string): void => {
    const known = boxes.get(name);
    if (!known) return;
    boxes.delete(name);
    const end = known
      .end()
      .catch((error: unknown) =>
        logger.warn({ box: name, error: messageOf(error) }, "an ssh agent did not end"),
      )
      .finally(() => ending.delete(end));
    ending.add(end);
  };
  return {
    setBox(box, bindings) {
      // Always anew: a secret that was changed or taken back must not live on in an agent.
      drop(box.name);
      const own = bindings.filter(({ use }) => use.kind === "ssh");
      if (own.length > 0)
        boxes.set(box.name, new BoxKeys({ ...options, box, bindings: own, newDir, limits }));
    },
    drop,
    knownHosts: async (bindings) => (await findServers(bindings, options.knownHostsFiles)).lines,
    serve(name, socket) {
      const known = boxes.get(name);
      if (known) known.serve(socket);
      else socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const name of boxes.keys()) drop(name);
      await Promise.all(ending);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
