/** A project's copy of its boxes' package caches. */
import { z } from "zod";

/**
 * Where package managers keep what they have fetched, below a box's home. Only fetched and compiled files: neither
 * settings (`.cargo/config.toml`) nor credentials, and no programs that a PATH leads to (`.cargo/bin`, `go/bin`).
 */
export const cachePaths = [
  ".npm/_cacache",
  ".cache/yarn",
  ".cache/pnpm",
  ".local/share/pnpm/store",
  ".cache/pip",
  ".cache/uv",
  ".cargo/registry",
  ".cargo/git",
  "go/pkg/mod",
  ".cache/go-build",
] as const;

export const ProjectCache = z.object({
  projectDir: z.string().describe("The project whose boxes begin with a copy of it."),
  box: z.string().describe("The box that it was taken from."),
  savedAtMs: z.int(),
  bytes: z.int(),
  paths: z.array(z.string()).describe("Directories of the box's home that it holds."),
});
export type ProjectCache = z.infer<typeof ProjectCache>;
