/** Handlers of images. */
import type { imageRoutes } from "../../contract/api/routes/images.ts";
import { buildImage } from "../../core/images/build-image.ts";
import { getImage, pruneImages, removeImage } from "../../core/images/remove-images.ts";
import { makerOf, requireProject } from "../../core/team/members.ts";
import type { Handlers } from "./handlers.ts";
import { streamSteps } from "../streams/step-stream.ts";

export const imageHandlers: Pick<Handlers, keyof typeof imageRoutes> = {
  listImages: async ({ deps }) => ({ images: [...(await deps.core.ports.images.list())] }),
  async buildImage({ deps: { core }, body, access, response }) {
    await requireProject(core, access, body);
    const request = { ...body, ...makerOf(access) };
    const run = (how: Parameters<typeof buildImage>[2]) => buildImage(core, request, how);
    await streamSteps({ core, response, what: "building an image", run });
  },
  removeImage: async ({ deps, query }) => ({ image: await removeImage(deps.core, query.name) }),
  pruneImages: ({ deps, body }) => pruneImages(deps.core, body),
  async getSbom({ deps, query }) {
    const { inputs } = await getImage(deps.core, query.name);
    return { sbom: JSON.parse(await deps.core.ports.images.sbom(inputs)) as Record<string, unknown> };
  },
};
