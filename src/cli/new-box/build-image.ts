import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { Client } from "../../client/index.ts";
import type { RouteBodyInput } from "../../contract/api/routes.ts";
import type { ImageInfo } from "../../contract/image.ts";
import type { CommandContext } from "../command.ts";
import { withProgress } from "../render/progress.ts";
import { shorten } from "../render/table.ts";

/** Builds the image of a manifest and shows how far it is. When the command is ended, the daemon gives up, too. */
export async function buildWithProgress(
  { screen }: Pick<CommandContext, "screen">,
  client: Client,
  request: RouteBodyInput<"buildImage">,
): Promise<{ image: ImageInfo; isNew: boolean }> {
  let message = "Building the image";
  return withProgress(
    screen,
    () => shorten(printable(message), screen.size.cols - 4),
    async () => {
      for await (const step of client.buildImage(request)) {
        if (step.type === "progress") message = step.message;
        else if (step.type === "done") return { image: step.image, isNew: step.isNew };
        else throw AgentBoxError.fromBody(step.error);
      }
      throw new AgentBoxError("image.build_failed", "The daemon went away while it built the image.", {
        hint: "Look at: agentbox daemon logs",
      });
    },
  );
}
