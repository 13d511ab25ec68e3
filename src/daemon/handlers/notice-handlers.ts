/** Handlers about where notices go. */
import type { noticeRoutes } from "../../contract/api/routes/notices.ts";
import { sendTrialAgain } from "../../core/notices/deliver.ts";
import {
  createReceiver,
  findReceiver,
  listReceivers,
  removeReceiver,
} from "../../core/notices/keep-receivers.ts";
import type { Handlers } from "./handlers.ts";

export const noticeHandlers: Pick<Handlers, keyof typeof noticeRoutes> = {
  listReceivers: async ({ deps: { core }, access }) => ({ receivers: listReceivers(core, access) }),
  createReceiver: async ({ deps: { core }, access, body }) => ({
    receiver: await createReceiver(core, access, body),
  }),
  async testReceiver({ deps: { core }, access, body }) {
    await sendTrialAgain(core, findReceiver(core, access, body.id));
    return {};
  },
  async removeReceiver({ deps: { core }, access, query }) {
    await removeReceiver(core, access, query.id);
    return {};
  },
};
