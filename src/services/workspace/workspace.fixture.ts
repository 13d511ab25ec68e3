/** A directory for one test: a source repository, a person with settings, and targets to fill. */
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { WorkspaceSpec } from "../../contract/box.ts";
import type { PreparedWorkspace } from "../../ports/workspace.ts";
import { openWorkspaces } from "./index.ts";

const isRoot = process.getuid!() === 0;
const owner = isRoot ? { uid: 54_321, gid: 54_321 } : { uid: process.getuid!(), gid: process.getgid!() };

export interface Ground {
  readonly dir: string;
  readonly source: string;
  /** Plain git, as a person would run it. */
  readonly plain: (args: readonly string[], options?: { cwd?: string; input?: string | Buffer }) => string;
  readonly put: (path: string, content: string | Buffer) => Promise<void>;
  readonly commitAll: (message: string) => void;
  readonly prepare: (
    spec?: Partial<WorkspaceSpec>,
  ) => Promise<PreparedWorkspace & { readonly target: string }>;
  readonly remove: () => Promise<void>;
}

export async function makeGround(): Promise<Ground> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "ab-workspace-")));
  const [source, home] = [join(dir, "source"), join(dir, "user")];
  await mkdir(home);
  await mkdir(source);
  await writeFile(join(home, ".gitconfig"), "[user]\n\tname = A Person\n\temail = person@example.com\n");
  const plain: Ground["plain"] = (args, { cwd = source, input } = {}) =>
    execFileSync("git", ["-c", "safe.directory=*", "-c", "protocol.file.allow=always", ...args], {
      cwd,
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, GIT_CONFIG_NOSYSTEM: "1" },
      stdio: ["pipe", "pipe", "pipe"],
      ...omitUndefined({ input }),
    }).toString();
  plain(["init", "-q", "-b", "main"]);
  let serial = 0;
  return {
    dir,
    source,
    plain,
    put: async (path, content) => {
      await mkdir(dirname(join(source, path)), { recursive: true });
      await writeFile(join(source, path), content);
    },
    commitAll: (message) => {
      plain(["add", "-A"]);
      plain(["commit", "-q", "--allow-empty", "-m", message]);
    },
    prepare: async (spec = {}) => {
      const target = join(dir, `target-${++serial}`);
      await mkdir(target);
      const workspaces = openWorkspaces({ isRoot, userHome: home, agentboxHome: join(dir, "agentbox") });
      const full = { mode: "clone", source, carry: "none", ...spec } as const;
      return { target, ...(await workspaces.prepare({ spec: full, target, owner, box: "team-app" })) };
    },
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}
