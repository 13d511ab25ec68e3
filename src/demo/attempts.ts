/** The attempts of the demo agent. Each is made for real, and reports the system's answer. */
import { readFile, readdir, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import type { DemoAttempt } from "../contract/demo.ts";

const patienceMs = 1_500;
const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);

/** undefined when it worked. */
async function refusal(attempt: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}

const orTimeout = <T>(promise: Promise<T>): Promise<T> =>
  Promise.race([
    promise,
    new Promise<never>((_, reject) =>
      setTimeout(
        () => reject(Object.assign(new Error("no answer"), { code: "no answer" })),
        patienceMs,
      ).unref(),
    ),
  ]);

export async function attemptReadHome(homes: readonly string[]): Promise<DemoAttempt> {
  const others = (await readdir("/home").catch(() => []))
    .filter((name) => name !== "agent")
    .map((name) => `/home/${name}`);
  const answers: string[] = [];
  for (const directory of new Set([...homes, "/root", ...others])) {
    const answer = await refusal(() => readdir(directory));
    if (answer === undefined)
      return { name: "Read your home directory", isRefused: false, evidence: `${directory} can be read` };
    answers.push(`${directory}: ${answer}`);
  }
  return { name: "Read your home directory", isRefused: true, evidence: answers.join(", ") };
}

function dial(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    socket.once("connect", () => {
      socket.destroy();
      resolve();
    });
    socket.once("error", reject);
  });
}

/** Every name has an address in a box; what counts is who answers there. The gate says so when it refuses. */
function fetchPage(host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request({ host, port: 80, path: "/" }, (response) => {
      response.resume();
      if (response.headers["x-agentbox"] === undefined) resolve();
      else reject(Object.assign(new Error("refused"), { code: `${response.statusCode} by the gate` }));
    });
    asked.once("error", reject);
    asked.end();
  });
}

export async function attemptNetwork(): Promise<DemoAttempt> {
  const [byAddress, byName] = await Promise.all([
    refusal(() => orTimeout(dial("1.1.1.1", 443))),
    refusal(() => orTimeout(fetchPage("example.com"))),
  ]);
  const interfaces = Object.keys(networkInterfaces()).filter((name) => name !== "lo");
  const isRefused = byAddress !== undefined && byName !== undefined && interfaces.length === 0;
  const evidence = `1.1.1.1: ${byAddress ?? "connected"}, example.com: ${byName ?? "answered"}`;
  return { name: "Reach the internet", isRefused, evidence };
}

/** The daemon runs on the host for certain, because it started this box: a view of the host's processes has it. */
export async function attemptProcesses(): Promise<DemoAttempt> {
  const name = "See your processes";
  const pids = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")),
  );
  const daemon = pids.find((_, index) => lines[index]!.endsWith("\0daemon\0run\0"));
  if (daemon !== undefined) return { name, isRefused: false, evidence: `the daemon is process ${daemon}` };
  return {
    name,
    isRefused: true,
    evidence: `${pids.length} in sight, all of this box`,
  };
}

export async function attemptWriteOutside(): Promise<DemoAttempt> {
  const answers: string[] = [];
  for (const directory of ["/usr", "/etc", "/opt/agentbox", "/run/agentbox", ""]) {
    const answer = await refusal(() => writeFile(`${directory}/agentbox-demo`, "was here"));
    if (answer === undefined)
      return {
        name: "Write outside the workspace",
        isRefused: false,
        evidence: `${directory || "/"} can be written`,
      };
    answers.push(`${directory || "/"}: ${answer}`);
  }
  return {
    name: "Write outside the workspace",
    isRefused: true,
    evidence: `${answers.slice(0, 2).join(", ")} …`,
  };
}
