import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sampleProject } from "../../contract/demo.ts";
import { runOk } from "../../host/run.ts";

export interface SampleRepository extends AsyncDisposable {
  readonly dir: string;
  /** The commit and whatever is uncommitted: equal text, untouched repository. */
  fingerprint(): Promise<string>;
}

/** A repository of its own for the tour, so that nothing of the person's is touched. */
export async function makeSampleRepository(): Promise<SampleRepository> {
  const parent = await mkdtemp(join(tmpdir(), "agentbox-tour-"));
  const dir = join(parent, "corner-shop");
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: parent, GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C" };
  const git = (...args: string[]) =>
    runOk(["git", "-c", "user.name=You", "-c", "user.email=you@agentbox.invalid", "-C", dir, ...args], {
      env,
    });
  await runOk(["git", "init", "--quiet", "--initial-branch=main", dir], { env });
  for (const [name, text] of Object.entries(sampleProject.files)) await writeFile(join(dir, name), text);
  await git("add", "--all");
  await git("commit", "--quiet", "-m", "A shop with a bug");
  return {
    dir,
    fingerprint: async () =>
      (await git("rev-parse", "HEAD")).stdout + (await git("status", "--porcelain")).stdout,
    [Symbol.asyncDispose]: () => rm(parent, { recursive: true, force: true }),
  };
}
