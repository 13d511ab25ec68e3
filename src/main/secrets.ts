/** Everything about secrets, put together: the vault, and those who use what is in it. */
import { join } from "node:path";
import type { Core, CorePorts } from "../core/context.ts";
import { injectionListener, sshKeysListener } from "../core/secrets/authorise-use.ts";
import { tokenKeeper } from "../core/secrets/token-keeper.ts";
import { systemClock, systemIds } from "../host/clock.ts";
import { type HostEnv, inheritedEnv } from "../host/env.ts";
import type { Home } from "../host/home.ts";
import type { Logger } from "../host/logger.ts";
import { openConnections } from "../services/connections/index.ts";
import { openInjection } from "../services/injection/index.ts";
import { openSshKeys } from "../services/ssh-keys/index.ts";
import { openVault } from "../services/vault/index.ts";

type Secrets = Pick<CorePorts, "vault" | "injection" | "connections" | "sshKeys"> & AsyncDisposable;

/** `core` comes later: these are a part of what it is made from, and speak to it only when boxes run. */
export async function openSecrets(
  { home, env, logger }: { readonly home: Home; readonly env: HostEnv; readonly logger: Logger },
  core: () => Core,
): Promise<Secrets> {
  const clock = systemClock;
  const vault = openVault({ dir: join(home.root, "vault"), clock, logger, env: inheritedEnv() });
  const injection = openInjection({ listener: injectionListener(core), clock, logger });
  const connections = openConnections({ keeper: tokenKeeper(core), clock, logger, ids: systemIds });
  const sshKeys = await openSshKeys({
    dir: join(home.root, "ssh"),
    listener: sshKeysListener(core),
    knownHostsFiles: [join(env.userHome, ".ssh/known_hosts"), "/etc/ssh/ssh_known_hosts"],
    clock,
    logger,
  });
  return {
    vault,
    injection,
    connections,
    sshKeys,
    async [Symbol.asyncDispose]() {
      await sshKeys[Symbol.asyncDispose]();
      await connections[Symbol.asyncDispose]();
      await vault[Symbol.asyncDispose]();
    },
  };
}
