/** Handlers about who may come in. */
import type { accessRoutes } from "../../contract/api/routes/access.ts";
import { sessionCookie } from "../../contract/api/headers.ts";
import { createShare, listShares, removeShare } from "../../core/access/keep-shares.ts";
import { createToken, listTokens, removeToken } from "../../core/access/keep-tokens.ts";
import { describeCaller, endSignIn, listSignIns, signOut } from "../../core/access/sign-ins.ts";
import type { Handlers } from "./handlers.ts";

/** SECURITY: behind the `#`, which no browser sends to any server and no proxy writes into its log. */
const linkTo = (url: string, code: string): string => `${url}/#link=${code}`;

/** So that the browser forgets its half, too. */
const endedCookie = `${sessionCookie}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`;

export const accessHandlers: Pick<Handlers, keyof typeof accessRoutes> = {
  async openLink({ deps: { core, web } }) {
    await web.ensure();
    const { code, expiresAtMs } = core.access.createLink();
    return { url: linkTo(web.url, code), expiresAtMs };
  },
  getMe: async ({ deps: { core }, access }) => describeCaller(core, access),
  async signOut({ deps: { core }, access, response }) {
    await signOut(core, access);
    if (access.credential.kind === "session") response.setHeader("set-cookie", endedCookie);
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
