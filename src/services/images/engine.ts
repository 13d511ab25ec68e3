/** The engine calls that images need. Every failure is one of ours: the engine is gone, or it refused. */
import type { Readable } from "node:stream";
import type Docker from "dockerode";
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import { interrupted } from "./layer-store.ts";

export interface EngineImage {
  /** `sha256:…` */
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly digests: readonly string[];
  readonly bytes: number;
}

export interface ImageEngine {
  find(reference: string): Promise<EngineImage | undefined>;
  /** A docker-archive with everything in it. */
  load(archive: Readable, signal: AbortSignal): Promise<void>;
  save(reference: string): Promise<Readable>;
  pull(reference: string, onProgress: (message: string) => void, signal: AbortSignal): Promise<void>;
  remove(reference: string): Promise<void>;
}

export const imageEngine = (docker: Docker): ImageEngine => new DockerImages(docker);

class DockerImages implements ImageEngine {
  readonly #docker: Docker;

  constructor(docker: Docker) {
    this.#docker = docker;
  }

  async find(reference: string): Promise<EngineImage | undefined> {
    try {
      const found = await this.#docker.getImage(reference).inspect();
      return {
        id: found.Id.startsWith("sha256:") ? found.Id : `sha256:${found.Id}`,
        labels: found.Config?.Labels ?? {},
        digests: (found.RepoDigests ?? []).map((text) => text.split("@")[1] ?? ""),
        bytes: found.Size,
      };
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw engineFailure(`asked for the image ${reference}`, error);
    }
  }

  async load(archive: Readable, signal: AbortSignal): Promise<void> {
    // The client pipes without looking: an archive that breaks off would leave the engine waiting for the rest.
    const broken = new AbortController();
    archive.once("error", (error) => broken.abort(error));
    try {
      const abortSignal = AbortSignal.any([signal, broken.signal]);
      await followProgress(
        await this.#docker.loadImage(archive, { quiet: true, abortSignal }),
        () => undefined,
      );
    } catch (error) {
      if (signal.aborted) throw interrupted();
      throw broken.signal.reason ?? engineFailure("given the image", error);
    } finally {
      archive.destroy();
    }
  }

  async save(reference: string): Promise<Readable> {
    try {
      return (await this.#docker.getImage(reference).get()) as Readable;
    } catch (error) {
      throw engineFailure(`asked for the content of ${reference}`, error);
    }
  }

  async pull(reference: string, onProgress: (message: string) => void, signal: AbortSignal): Promise<void> {
    try {
      const answer = await this.#docker.pull(reference, { abortSignal: signal });
      await followProgress(answer, onProgress);
    } catch (error) {
      throw new AgentBoxError(
        "image.not_found",
        `The image ${reference} is not in the engine and could not be pulled: ${saidBy(error)}.`,
        {
          hint: "Check the name, sign the engine in to the registry, load it by hand, or leave runtime.image out to begin with Debian packages.",
          facts: { image: reference },
          cause: error,
        },
      );
    }
  }

  async remove(reference: string): Promise<void> {
    try {
      await this.#docker.getImage(reference).remove();
    } catch (error) {
      const status = statusOf(error);
      if (status === 404) return;
      if (status !== 409) throw engineFailure(`told to remove ${reference}`, error);
      throw new AgentBoxError("image.in_use", `A container of the engine uses the image ${reference}.`, {
        hint: "Remove the boxes and containers that were made from it first.",
        facts: { image: reference },
        cause: error,
      });
    }
  }
}

const maxLine = 64 << 10;

/** One JSON document a line; one with `error` says that what was begun has failed. */
async function followProgress(
  answer: NodeJS.ReadableStream,
  onProgress: (message: string) => void,
): Promise<void> {
  let pending = "";
  const take = (line: string): void => {
    if (line.trim() === "") return;
    const progressLine = JSON.parse(line) as { error?: string; status?: string; progress?: string };
    if (progressLine.error !== undefined) throw new AgentBoxError("image.build_failed", progressLine.error);
    if (progressLine.status !== undefined)
      onProgress(printable(`${progressLine.status} ${progressLine.progress ?? ""}`.trim()));
  };
  for await (const chunk of answer) {
    const lines = (pending + String(chunk)).split("\n");
    pending = lines.pop()!.slice(0, maxLine);
    lines.forEach(take);
  }
  take(pending);
}

const statusOf = (error: unknown): number | undefined =>
  (error as { statusCode?: number } | undefined)?.statusCode;

const saidBy = (error: unknown): string =>
  printable(messageOf(error))
    .slice(0, 300)
    .replace(/[.\s]+$/, "");

const engineFailure = (what: string, error: unknown): AgentBoxError =>
  new AgentBoxError("image.build_failed", `The container engine was ${what} and failed: ${saidBy(error)}.`, {
    hint: "Check that the engine runs and has room on its disk, then build again: agentbox build",
    cause: error,
  });
