/** Handlers about secrets. No answer has a value: what is written here can be read nowhere. */
import { AgentBoxError } from "../../base/errors.ts";
import type { vaultRoutes } from "../../contract/api/routes/vault.ts";
import { requireParameter } from "../../core/access/authority.ts";
import { keepLogin } from "../../core/secrets/keep-login.ts";
import {
  addSecret,
  exportVault,
  getSecret,
  grantSecret,
  importVault,
  listSecrets,
  lockVault,
  rekeyVault,
  removeSecret,
  revokeSecret,
  rotateSecret,
  unlockVault,
} from "../../core/secrets/keep-secrets.ts";
import { startConnection } from "../../core/secrets/start-connection.ts";
import { testSecret } from "../../core/secrets/test-secret.ts";
import { verifyAudit } from "../../core/host-check/verify-audit.ts";
import type { Handlers } from "./handlers.ts";

export const vaultHandlers: Pick<Handlers, keyof typeof vaultRoutes> = {
  getVault: ({ deps: { core } }) => core.ports.vault.status(),
  unlockVault: ({ deps: { core }, body }) => unlockVault(core, body.passphrase),
  lockVault: ({ deps: { core } }) => lockVault(core),
  rekeyVault: ({ deps: { core }, body }) => rekeyVault(core, body),
  exportVault: async ({ deps: { core }, body }) => ({ sealed: await exportVault(core, body.passphrase) }),
  importVault: ({ deps: { core }, body }) => importVault(core, body),
  listSecrets: async ({ deps: { core } }) => ({ secrets: await listSecrets(core) }),
  addSecret: async ({ deps: { core }, body }) => ({ secret: await addSecret(core, body) }),
  getSecret: ({ deps: { core }, query }) => getSecret(core, query.name),
  async removeSecret({ deps: { core }, query }) {
    await removeSecret(core, query.name);
    return {};
  },
  async rotateSecret({ deps: { core }, body, access }) {
    if ((await core.ports.vault.find(body.name))?.kind === "oauth")
      requireParameter(core, access, "rotateSecret", "value");
    return { secret: await rotateSecret(core, body) };
  },
  grantSecret: async ({ deps: { core }, body }) => ({ grants: await grantSecret(core, body) }),
  revokeSecret: ({ deps: { core }, body }) => revokeSecret(core, body),
  async secretAudit({ deps: { core }, query: { name, box, limit } }) {
    await core.egressLog.flush();
    const query = { box, limit, secret: name ?? true, newestFirst: true } as const;
    return { records: [...(await core.ports.store.listEgress(query))] };
  },
  testSecret: async ({ deps: { core }, params, body }) => ({
    tests: await testSecret(core, params["box"]!, body),
  }),
  listConnectionPresets: async ({ deps: { core } }) => ({ presets: [...core.ports.connections.presets] }),
  startConnection: ({ deps: { core }, body }) => startConnection(core, body),
  async getConnection({ deps: { core }, params }) {
    const state = core.ports.connections.find(params["connection"]!);
    if (state !== undefined) return state;
    throw new AgentBoxError("connection.not_found", "There is no such sign-in under way.", {
      hint: "Begin one: agentbox connect NAME",
    });
  },
  keepLogin: async ({ deps: { core }, body }) => ({ secret: await keepLogin(core, body) }),
  verifyAudit: ({ deps: { core }, query }) => verifyAudit(core, query),
};
