/** The host's end of the link: one socket per box, and nothing a box sends can harm more than its own link. */
import type { Clock, Ids } from "../../base/clock.ts";
import type { Logger } from "../../host/logger.ts";
import type { Links } from "../../ports/link.ts";
import { HostBoxLink } from "./box-link.ts";
import { listenForBox, writeBoxConfig } from "./listening.ts";

export { streamFailure } from "./stream-failure.ts";

export interface LinksOptions {
  readonly ids: Ids;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function openLinks(options: LinksOptions): Links {
  return {
    async listen({ linkDir, owner, config, listener }) {
      // Before the socket, because boxd reads it first and may be there already.
      await writeBoxConfig(linkDir, owner, config);
      const link = new HostBoxLink({ ...options, box: config.box, listener });
      link.serve(await listenForBox(linkDir, owner, (socket) => link.accept(socket)));
      return link;
    },
  };
}
