/** Says whether boxes can be made here, by making one: every namespace, mount and filter of a real start. */
import { chmod, mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../../base/errors.ts";
import { ensureDirectory, removeTree } from "../../../host/files.ts";
import { signalProcess } from "../../../host/processes.ts";
import { run } from "../../../host/run.ts";
import type { RuntimeProbe } from "../../../ports/runtime.ts";
import type { BubblewrapHost, ProgramName } from "./bubblewrap-host.ts";
import { type Chain, startChain } from "./chain.ts";
import { etcFiles } from "../etc-files.ts";
import { nowhere } from "./limits/limiter.ts";
import { parseReport } from "./records.ts";
import { seccompProgram } from "./seccomp/filter.ts";
import { readSystemLayout } from "../system-layout.ts";

/** A root daemon tries with the user that owns nothing. */
const nobody = { uid: 65_534, gid: 65_534 };

/** Switches that forbid an ordinary user to make a user namespace, and the line that turns each. */
const switches = [
  {
    name: "kernel/unprivileged_userns_clone",
    forbids: "0",
    fix: "sysctl -w kernel.unprivileged_userns_clone=1",
  },
  { name: "user/max_user_namespaces", forbids: "0", fix: "sysctl -w user.max_user_namespaces=15000" },
  {
    name: "kernel/apparmor_restrict_unprivileged_userns",
    forbids: "1",
    fix: "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
  },
] as const;

const packageOf: Record<ProgramName, string> = {
  bwrap: "bubblewrap",
  setpriv: "util-linux",
  prlimit: "util-linux",
  sh: "dash",
  "systemd-run": "systemd",
};

export async function probeBubblewrap(host: BubblewrapHost): Promise<RuntimeProbe> {
  const bwrap = host.findProgram("bwrap");
  if (bwrap === undefined) {
    return {
      status: "absent",
      reason: "The program bwrap is not installed.",
      fix: { hint: "Run: apt-get install bubblewrap", packages: ["bubblewrap"] },
    };
  }
  for (const name of host.uid === 0 ? (["sh", "setpriv"] as const) : (["sh"] as const)) {
    if (host.findProgram(name) !== undefined) continue;
    const hint = `Run: apt-get install ${packageOf[name]}`;
    return broken(`The program ${name} is not installed.`, hint, [packageOf[name]]);
  }
  if (seccompProgram(host.architecture) === undefined) {
    return broken(
      `There is no seccomp filter for ${host.architecture} processors.`,
      "Use another runtime here.",
    );
  }
  const version = await readVersion(bwrap);
  if (version === undefined)
    return broken(`${bwrap} --version does not answer.`, "Run: apt-get install --reinstall bubblewrap", [
      "bubblewrap",
    ]);
  const problem = await tryBox(host);
  if (problem === undefined)
    return { status: "ready", version, detail: `bubblewrap ${version}, proven by starting a box` };
  return explain(host, problem);
}

const broken = (reason: string, hint: string, packages: readonly string[] = []): RuntimeProbe => ({
  status: "broken",
  reason,
  fix: { hint, packages },
});

async function readVersion(bwrap: string): Promise<string | undefined> {
  try {
    const { stdout } = await run([bwrap, "--version"], { timeoutMs: 10_000 });
    return /(\d+(?:\.\d+)+)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}

async function explain(host: BubblewrapHost, problem: string): Promise<RuntimeProbe> {
  for (const { name, forbids, fix } of switches) {
    if ((await host.readSwitch(name)) !== forbids) continue;
    const setting = name.replaceAll("/", ".");
    return broken(`This host forbids user namespaces (${setting} = ${forbids}).`, `Run as root: ${fix}`);
  }
  const hint = /namespace|uid map|Operation not permitted|No space left/i.test(problem)
    ? "The host, or the container this runs in, forbids user namespaces; allow them, or run AgentBox outside of it."
    : "Run this on its own to see more: bwrap --unshare-user --ro-bind / / true";
  return broken(`A trial box did not start: ${problem}`, hint);
}

const trialTimeoutMs = 20_000;

async function withTimeLimit(chain: Chain): Promise<number | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      // Its outermost process; everything below dies with its parent.
      signalProcess(chain.pid, "SIGKILL");
      resolve(undefined);
    }, trialTimeoutMs);
  });
  return Promise.race([chain.exited, late]).finally(() => clearTimeout(timer));
}

/** Undefined when a whole box could be made, otherwise what bubblewrap said. */
async function tryBox(host: BubblewrapHost): Promise<string | undefined> {
  const root = await mkdtemp(join(tmpdir(), "agentbox-probe-"));
  try {
    // The box's user passes through; nothing in here is worth reading.
    await chmod(root, 0o755);
    const dirs = {
      runtime: join(root, "runtime"),
      link: join(root, "link"),
      home: join(root, "home"),
      workspace: join(root, "workspace"),
    };
    for (const path of Object.values(dirs))
      await ensureDirectory(path, { mode: path === dirs.runtime ? 0o700 : 0o755 });
    const reportPath = join(dirs.runtime, "status");
    const chain = startChain({
      name: "probe",
      dirs,
      // Stand-ins: whether Node itself can be reached by a box's user is for each start to say.
      tools: { node: "/bin/sh", boxd: dirs.home },
      mounts: [],
      files: [],
      guardedNames: [],
      resources: { required: [] },
      layout: readSystemLayout(),
      placement: nowhere,
      become: host.uid === 0 ? nobody : undefined,
      command: ["/bin/true"],
      host,
      etc: etcFiles({ name: "probe", machineId: "" }),
      scratchDir: dirs.runtime,
      reportPath,
    });
    const code = await withTimeLimit(chain);
    if (code === undefined) return "it did not end in time";
    await chain.drained();
    const report = parseReport(await readFile(reportPath, "utf8"));
    if (code === 0 && report.exitCode === 0) return undefined;
    return chain.diagnostics()?.split("\n").at(-1) ?? `it ended with ${code}`;
  } catch (error) {
    return messageOf(error);
  } finally {
    await removeTree(root);
  }
}
