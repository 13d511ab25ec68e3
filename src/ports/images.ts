/**
 * Images: the root of a container box. Guarantees:
 * - An image is named by everything that goes into it: the same inputs give the same image, on a fresh cache too.
 * - It appears whole or not at all, in the engine and in the records; two builds of the same are one.
 * - It holds only what its recipe names, and nothing of the host's configuration: no mirror, proxy or credential.
 */
import type { ImageInfo } from "../contract/image.ts";
import type { BoxTools } from "./runtime.ts";

export interface ImageAgent {
  readonly name: string;
  /** Absent for what is part of every box. */
  readonly tool?:
    | {
        readonly version: string;
        readonly digest: string;
        /** Verified host directory; at `/opt/agentbox/agents/<name>` in the image. */
        readonly dir: string;
        /** `pkg:npm/…`, for the list of parts. */
        readonly purl?: string | undefined;
      }
    | undefined;
}

/** An MCP server whose package is in the image. */
export interface ImageServer {
  readonly name: string;
  readonly version: string;
  readonly digest: string;
  /** Verified host directory; at `/opt/agentbox/mcp/<name>` in the image. */
  readonly dir: string;
  /** Path of the program below that directory. */
  readonly program: string;
  readonly purl: string;
}

/** Everything an image is made from. */
export interface ImageRecipe {
  /** Reference of an image to begin with; absent: the host's own Debian, from its packages. */
  readonly base?: string | undefined;
  /** Debian packages beside those that every box needs. */
  readonly packages: readonly string[];
  readonly tools: Pick<BoxTools, "node" | "boxd">;
  readonly agent: ImageAgent;
  readonly servers?: readonly ImageServer[] | undefined;
  /** Host directory. */
  readonly skills?: string | undefined;
  /** Digest of the manifest file. */
  readonly manifest?: string | undefined;
  /** For the record alone. */
  readonly projectDir?: string | undefined;
  readonly warnings: readonly string[];
}

export interface BuildOptions {
  /** Makes the base and every layer again. */
  readonly isFresh?: boolean | undefined;
  /** The current step, as a short sentence. */
  readonly onProgress: (message: string) => void;
  readonly signal: AbortSignal;
}

export interface Images {
  /** Fails with runtime.absent or runtime.broken where there is no engine that could build. */
  requireEngine(): Promise<void>;
  /** The image of exactly this recipe, when it is built and the engine has it. */
  find(recipe: ImageRecipe): Promise<ImageInfo | undefined>;
  /** Fails with image.invalid, image.not_found or image.build_failed. `isNew` is false when nothing had to be done. */
  build(
    recipe: ImageRecipe,
    options: BuildOptions,
  ): Promise<{ readonly image: ImageInfo; readonly isNew: boolean }>;
  /** The content that a reference without a digest stands for now: in the engine, or at its registry. */
  resolve(reference: string, options: Pick<BuildOptions, "onProgress" | "signal">): Promise<string>;
  /** Newest first. */
  list(): Promise<readonly ImageInfo[]>;
  /** From the engine and from the records; what is gone already is no failure. */
  remove(inputs: string): Promise<void>;
  /** Removes layers and bases that no image needs; answers with how many bytes that were. */
  sweep(): Promise<number>;
  /** CycloneDX, as JSON. */
  sbom(inputs: string): Promise<string>;
}
