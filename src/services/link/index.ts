/** The host's end of the link: one socket per box, and nothing a box sends can harm more than its own link. */
import type { Clock, Ids } from "../../base/clock.ts";
import type { Logger } from "../../host/logger.ts";
import type { Links } from "../../ports/link.ts";
import { HostBoxLink } from "./box-link.ts";
import { openLinkRates } from "./link-rates.ts";
import { listenForBox, writeBoxConfig } from "./listening.ts";

export { streamFailure } from "./stream-failure.ts";

export interface LinksOptions {
  readonly ids: Ids;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function openLinks(options: LinksOptions): Links {
  const openRates = openLinkRates(options.clock);
  return {
    async listen({ linkDir, owner, config, listener }) {
      // Before the socket, because boxd reads it first and may be there already.
      await writeBoxConfig(linkDir, owner, config);
      const link = new HostBoxLink({ ...options, box: config.box, listener, rates: openRates() });
      const server = await listenForBox({
        linkDir,
        owner,
        clock: options.clock,
        accept: (socket) => link.accept(socket),
        violated: (reason) => link.violated(reason),
      });
      link.serve(server);
      return link;
    },
  };
}
