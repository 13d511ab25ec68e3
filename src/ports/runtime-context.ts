/** A runtime's inputs in its conformance cases: directories like the storage's, and small stand-ins for boxd. */
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { waitFor } from "../base/wait-for.ts";
import { boxUser, type BoxOwner } from "../contract/box.ts";
import type { Runtime, RuntimeBox, RuntimeModule, RuntimeStatus } from "./runtime.ts";

export interface RuntimeSubject {
  readonly module: RuntimeModule;
  /** `processes`: boxes run real processes, so that cases may look inside. */
  readonly abilities: readonly string[];
  /** Who boxes belong to: the user itself, or an unprivileged one when the tests run as root. */
  readonly owner: BoxOwner;
  /** The Node binary to mount. */
  readonly node: string;
  /** A directory that `owner` can pass through. */
  readonly scratchDir: string;
}

export interface RuntimeContext {
  readonly subject: RuntimeSubject;
  readonly boxesDir: string;
  readonly runtime: Runtime;
  /** Another runtime on the same boxes, as a restarted daemon would open it. */
  readonly reopen: () => Promise<Runtime>;
  readonly makeBox: (
    name: string,
    options?: Partial<Pick<RuntimeBox, "mounts" | "resources" | "files" | "guarded">> & { script?: string },
  ) => Promise<RuntimeBox>;
}

/** Says that it is up, and goes when asked to. */
const obedientScript = `
require("node:fs").writeFileSync("/workspace/up", String(process.pid));
process.on("SIGTERM", () => process.exit(0));
setInterval(() => undefined, 1000);
`;

/** Says that it is up, and does not go when asked to. */
export const stubbornScript = `
process.on("SIGTERM", () => require("node:fs").writeFileSync("/workspace/asked", "yes"));
require("node:fs").writeFileSync("/workspace/up", String(process.pid));
setInterval(() => undefined, 1000);
`;

/** Ends with 3 as soon as a file appears. */
export const endingScript = `
const fs = require("node:fs");
fs.writeFileSync("/workspace/up", String(process.pid));
setInterval(() => fs.existsSync("/workspace/end") && process.exit(3), 5);
`;

/** Counts in a file, so that others can see whether it goes on. */
export const countingScript = `
const fs = require("node:fs");
let count = 0;
const go = () => {
  fs.writeFileSync("/workspace/count", String(++count));
  setImmediate(go);
};
go();
fs.writeFileSync("/workspace/up", String(process.pid));
`;

export async function withRuntimeContext(
  subject: RuntimeSubject,
  use: (context: RuntimeContext) => Promise<void>,
): Promise<void> {
  const root = await mkdtemp(join(subject.scratchDir, "c-"));
  await chmod(root, 0o755);
  const boxesDir = join(root, "boxes");
  await mkdir(boxesDir, { mode: 0o755 });
  const opened: Runtime[] = [];
  const open = async (): Promise<Runtime> => {
    const runtime = await subject.module.open({ boxesDir });
    opened.push(runtime);
    return runtime;
  };
  try {
    await use({
      subject,
      boxesDir,
      runtime: await open(),
      reopen: open,
      makeBox: (name, options = {}) => makeBox(subject, root, name, options),
    });
  } finally {
    const last = await open();
    for (const { name } of await last.list()) await last.remove(name);
    for (const runtime of opened) await runtime[Symbol.asyncDispose]();
    await rm(root, { recursive: true, force: true });
  }
}

async function makeBox(
  { owner, node }: RuntimeSubject,
  root: string,
  name: string,
  { script = obedientScript, ...overrides }: NonNullable<Parameters<RuntimeContext["makeBox"]>[1]>,
): Promise<RuntimeBox> {
  const inBox = (part: string): string => join(root, "boxes", name, part);
  const dirs = {
    runtime: inBox("runtime"),
    link: inBox("link"),
    home: inBox("home"),
    workspace: inBox("workspace"),
  };
  for (const path of Object.values(dirs)) await mkdir(path, { recursive: true, mode: 0o755 });
  await chmod(dirs.runtime, 0o700);
  for (const path of [dirs.home, dirs.workspace]) await chown(path, owner.uid, owner.gid);
  const boxd = join(root, `boxd-${name}`);
  await mkdir(boxd, { recursive: true, mode: 0o755 });
  await writeFile(join(boxd, "boxd.js"), script, { mode: 0o644 });
  return { name, owner, dirs, tools: { node, boxd }, mounts: [], resources: { required: [] }, ...overrides };
}

/** Whether the runtime says this of its boxes; `unless` is what silence means. */
function promises({ runtime }: RuntimeContext, guarantee: string, unless: boolean): boolean {
  const { guarantees } = runtime.isolation({ resources: { required: [] } });
  return guarantees.find(({ name }) => name === guarantee)?.isEnforced ?? unless;
}

export const hasUserNamespace = (context: RuntimeContext): boolean =>
  promises(context, "user namespace", true);

export const hasCgroupNamespace = (context: RuntimeContext): boolean =>
  promises(context, "cgroup namespace", true);

/** A kernel of their own, which shows and names some things differently. */
export const hasOwnKernel = (context: RuntimeContext): boolean => promises(context, "own kernel", false);

/** Who the box's processes are: number 1000, or the host's number of their owner where users are not mapped. */
export const userInside = (context: RuntimeContext): BoxOwner =>
  hasUserNamespace(context) ? { uid: boxUser.uid, gid: boxUser.gid } : context.subject.owner;

/** Waits for what a box writes into its workspace. */
export async function waitForFile(box: RuntimeBox, file: string, timeoutMs = 10_000): Promise<string> {
  const path = join(box.dirs.workspace, file);
  const written = async () => (await readFile(path, "utf8").catch(() => "")) || undefined;
  return waitFor(`the box writes ${file}`, written, timeoutMs);
}

/** Starts, and waits until the box's own code runs where it has any. */
export async function startUp({ runtime, subject }: RuntimeContext, box: RuntimeBox): Promise<RuntimeStatus> {
  const status = await runtime.start(box);
  if (subject.abilities.includes("processes")) await waitForFile(box, "up");
  return status;
}
