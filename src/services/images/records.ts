/** The records of built images: `<inputs>.json`, and the list of parts as `<inputs>.sbom.json`. */
import { readFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { AgentBoxError, systemCode } from "../../base/errors.ts";
import { ImageInfo } from "../../contract/image.ts";
import { ensureDirectory, writeFileAtomic } from "../../host/files.ts";

const suffix = ".json";
const sbomSuffix = ".sbom.json";
const inputsPattern = /^sha256:[0-9a-f]{64}$/;

export class ImageRecords {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  async find(inputs: string): Promise<ImageInfo | undefined> {
    return readRecord(this.#file(inputs, suffix));
  }

  /** Newest first. */
  async list(): Promise<ImageInfo[]> {
    const names = await readdir(this.#dir).catch((error: unknown) => {
      if (systemCode(error) === "ENOENT") return [];
      throw error;
    });
    const wanted = names.filter((name) => name.endsWith(suffix) && !name.endsWith(sbomSuffix));
    const records = await Promise.all(wanted.map((name) => readRecord(join(this.#dir, name))));
    return records.filter((record) => record !== undefined).sort((a, b) => b.builtAtMs - a.builtAtMs);
  }

  async keep(image: ImageInfo, sbom: string): Promise<void> {
    await ensureDirectory(this.#dir, { mode: 0o700 });
    await writeFileAtomic(this.#file(image.inputs, sbomSuffix), sbom);
    await writeFileAtomic(this.#file(image.inputs, suffix), JSON.stringify(image));
  }

  async remove(inputs: string): Promise<void> {
    await rm(this.#file(inputs, suffix), { force: true });
    await rm(this.#file(inputs, sbomSuffix), { force: true });
  }

  async sbom(inputs: string): Promise<string> {
    try {
      return await readFile(this.#file(inputs, sbomSuffix), "utf8");
    } catch (error) {
      if (systemCode(error) === "ENOENT") throw notFound(inputs);
      throw error;
    }
  }

  /** SECURITY: it comes from a request and becomes a path. */
  #file(inputs: string, end: string): string {
    if (!inputsPattern.test(inputs)) throw notFound(inputs);
    return join(this.#dir, `${inputs.slice("sha256:".length)}${end}`);
  }
}

const notFound = (inputs: string): AgentBoxError =>
  new AgentBoxError("image.not_found", `No image ${JSON.stringify(inputs.slice(0, 80))} was built here.`, {
    hint: "List the images: agentbox images",
  });

async function readRecord(file: string): Promise<ImageInfo | undefined> {
  try {
    return ImageInfo.parse(JSON.parse(await readFile(file, "utf8")));
  } catch {
    return undefined;
  }
}
