/** Handlers about who may come in. */
import { AgentBoxError } from "../base/errors.ts";
import type { accessRoutes } from "../contract/api/access-routes.ts";
import { createShare, listShares, removeShare } from "../core/access/keep-shares.ts";
import { createToken, listTokens, removeToken } from "../core/access/keep-tokens.ts";
import { describeCaller, endSignIn, listSignIns, signOut } from "../core/access/sign-ins.ts";
import type { Handlers } from "./handlers.ts";

/** SECURITY: behind the `#`, which no browser sends to any server and no proxy writes into its log. */
const linkTo = (url: string, code: string): string => `${url}/#link=${code}`;

export const accessHandlers: Pick<Handlers, keyof typeof accessRoutes> = {
  async openLink({ deps: { core, web }, access }) {
    // SECURITY: a session has every scope and outlives a token, so no token may make one.
    if (access.principal.kind === "token")
      throw new AgentBoxError("access.forbidden", "An access token cannot open the dashboard.");
    await web.ensure();
    const { code, expiresAtMs } = core.access.createLink();
    return { url: linkTo(web.url, code), expiresAtMs };
  },
  getMe: async ({ deps: { core }, access }) => describeCaller(core, access),
  async signOut({ deps: { core }, access }) {
    await signOut(core, access);
    return {};
  },
  listTokens: async ({ deps: { core }, access }) => ({ tokens: listTokens(core, access) }),
  createToken: ({ deps: { core }, access, body }) => createToken(core, access, body),
  async removeToken({ deps: { core }, access, query }) {
    await removeToken(core, access, query.id);
    return {};
  },
  listShares: async ({ deps: { core }, params }) => ({ shares: await listShares(core, params["box"]!) }),
  async createShare({ deps: { core, web }, access, params, body }) {
    if ("link" in body.with) await web.ensure();
    const { share, code } = await createShare(core, access, params["box"]!, body);
    return { share, ...(code === undefined ? {} : { url: linkTo(web.url, code) }) };
  },
  async removeShare({ deps: { core }, params, query }) {
    await removeShare(core, params["box"]!, query.id);
    return {};
  },
  listSignIns: async ({ deps: { core }, access }) => ({ signIns: listSignIns(core, access) }),
  async endSignIn({ deps: { core }, access, query }) {
    await endSignIn(core, access, query.id);
    return {};
  },
};
