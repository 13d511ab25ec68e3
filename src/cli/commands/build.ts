import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { formatBytes } from "../../base/bytes.ts";
import { printable } from "../../base/printable.ts";
import type { ImageInfo } from "../../contract/image.ts";
import { buildWithProgress } from "../new-box/build-image.ts";
import type { RunCommand } from "../command.ts";
import { imageRequest } from "../new-box/create-box.ts";
import type { Style } from "../render/style.ts";
import { solvingProblems } from "../new-box/solve-problems.ts";

/** Builds the image that boxes of this project's manifest are made from. */
export const run: RunCommand = async (context) => {
  const { args, screen, cwd } = context;
  const client = await context.connect();
  const request = { ...(await imageRequest(context)), isFresh: args.isSet("no-cache") };
  const built = await solvingProblems(context, client, request, () =>
    buildWithProgress(context, client, request),
  );
  const file = args.text("sbom");
  if (file !== undefined) {
    const sbom = await client.getSbom({ name: built.image.inputs });
    await writeFile(resolve(cwd, file), `${JSON.stringify(sbom, undefined, 2)}\n`);
  }
  if (screen.isJson) screen.printJson(built);
  else screen.print(describeImage(built.image, built.isNew, screen.style));
  for (const warning of built.image.warnings) screen.note(printable(warning));
  return 0;
};

const describeImage = ({ reference, id, bytes, base }: ImageInfo, isNew: boolean, style: Style): string =>
  `${style.green("✓")} ${style.bold(reference)}${isNew ? "" : " is up to date"}  ${style.dim(
    `${formatBytes(bytes)}, ${printable(base)}, ${id.slice(0, 19)}`,
  )}`;
