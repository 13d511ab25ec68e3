/**
 * Ground for tests of boxes that are made from an image. A base takes a minute, so the first build of a run leaves its
 * layers to the others: they are named by their content, and any engine and user can take them.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ImageInfo } from "../../src/contract/image.ts";
import { type TestDaemon, startDaemon } from "./daemon.ts";
import { type EngineKind, engineUnavailable, rootlessUser, startEngine } from "./engines.ts";
import { hasProgram } from "./host-facts.ts";
import { runProgram } from "./program.ts";
import { giveTo } from "./review.ts";

export const buildMs = 600_000;

/** Why no image can be built for this engine here, or undefined when it can. */
export const whyNoImages = (kind: EngineKind): string | undefined =>
  engineUnavailable(kind) ?? (hasProgram("mmdebstrap") ? undefined : "not installed: mmdebstrap");

export interface Built {
  readonly image: ImageInfo;
  readonly isNew: boolean;
}

const proxies = (): Record<string, string> =>
  Object.fromEntries(
    ["http_proxy", "https_proxy", "no_proxy"].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** A daemon on this engine, of the user whose engine it is. */
export async function startImageDaemon(
  kind: EngineKind,
  more: Readonly<Record<string, string>> = {},
): Promise<{ daemon: TestDaemon; socket: string }> {
  const { socket } = await startEngine(kind);
  // An agent gets no box without a key; nothing here asks a model.
  const env = { ...proxies(), OPENAI_API_KEY: "sk-unused", ...more, AGENTBOX_ENGINE: `unix://${socket}` };
  const user = kind === "podman-rootless" ? { user: rootlessUser } : {};
  return { daemon: await startDaemon({ env, ...user }), socket };
}

export async function makeProject(
  daemon: TestDaemon,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const dir = mkdtempSync(join(daemon.scratch, "project-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text, { mode: 0o644 });
  }
  await runProgram(["chmod", "-R", "a+rX", dir, daemon.scratch]);
  await giveTo(daemon, dir);
  return dir;
}

export const manifestDigest = (text: string): string =>
  `sha256:${createHash("sha256").update(text).digest("hex")}`;

const parts = ["layers", "bases"];

/** `agentbox build`, with the layers of an earlier build of the same base in this run. */
export async function buildShared(daemon: TestDaemon, cwd: string, ...args: string[]): Promise<Built> {
  const shared = join(process.env["AGENTBOX_TEST_RUN"]!, "images");
  const own = join(daemon.home, "images");
  if (existsSync(shared) && !existsSync(own)) {
    await copy(shared, own);
    const { uid, gid } = statSync(daemon.home);
    await must(["chown", "-R", `${uid}:${gid}`, own]);
  }
  const built = await daemon.json<Built>(["build", ...args], { cwd, timeoutMs: buildMs });
  if (!existsSync(shared)) {
    mkdirSync(`${shared}.new`);
    for (const part of parts) await copy(join(own, part), join(`${shared}.new`, part));
    // Whole before it has its name.
    await must(["mv", "--no-target-directory", `${shared}.new`, shared]);
  }
  return built;
}

const copy = (from: string, to: string): Promise<void> => must(["cp", "-a", "--reflink=auto", from, to]);

async function must(argv: readonly string[]): Promise<void> {
  const { code, stderr } = await runProgram(argv);
  if (code !== 0) throw new Error(`${argv[0]} ended with ${code}: ${stderr}`);
}
