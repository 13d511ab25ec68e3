// Programs that come from the system's package manager: installed when this user may, otherwise the line to type.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { run } from "./steps.mjs";

export const hasProgram = (name) =>
  [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"].some((directory) => {
    try {
      accessSync(join(directory, name), constants.X_OK);
      return directory !== "";
    } catch {
      return false;
    }
  });

/** Debian's package names, where another distribution calls the same thing differently. */
const otherNames = {
  dnf: { iproute2: "iproute", "openssh-client": "openssh-clients" },
  pacman: { "openssh-client": "openssh" },
  apk: { "openssh-client": "openssh-client-default" },
  zypper: { "openssh-client": "openssh-clients" },
};

const installLines = {
  "apt-get": (names) => `apt-get install -y --no-install-recommends ${names}`,
  dnf: (names) => `dnf install -y ${names}`,
  pacman: (names) => `pacman -S --needed ${names}`,
  apk: (names) => `apk add ${names}`,
  zypper: (names) => `zypper install -y ${names}`,
};

/** The exact line a person would type here to get these packages. */
export function installLine(packages) {
  const tool = Object.keys(installLines).find(hasProgram);
  if (tool === undefined) return `install with your package manager: ${packages.join(" ")}`;
  const names = packages.map((name) => otherNames[tool]?.[name] ?? name).join(" ");
  const line = installLines[tool](names);
  if (process.getuid?.() === 0) return line;
  return hasProgram("sudo") ? `sudo ${line}` : `su -c '${line}'`;
}

/** How to become root without being asked anything, or undefined. */
async function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  if (hasProgram("sudo") && (await run(["sudo", "-n", "true"])).code === 0) return ["sudo", "-n"];
  return undefined;
}

let isIndexFresh = false;

/**
 * Installs Debian packages when that needs no question. Returns whether they are there now; the reason
 * when they are not is for people to read.
 */
export async function installPackages(packages) {
  if (packages.length === 0) return { isInstalled: true, reason: "" };
  const prefix = hasProgram("apt-get") ? await rootPrefix() : undefined;
  if (prefix === undefined)
    return { isInstalled: false, reason: `To install them, run: ${installLine(packages)}` };
  const apt = async (...args) => {
    console.log(`+ ${[...prefix, "apt-get", ...args].join(" ")}`);
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    return run([...prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", ...args], { env });
  };
  if (!isIndexFresh) await apt("update", "-q");
  isIndexFresh = true;
  const result = await apt("install", "-q", "-y", "--no-install-recommends", ...packages);
  if (result.code === 0) return { isInstalled: true, reason: "" };
  console.log(result.output.trimEnd());
  return {
    isInstalled: false,
    reason: `apt-get could not install them. To try again: ${installLine(packages)}`,
  };
}

/** Makes sure that programs exist, given as { program: package }. */
export async function ensurePrograms(programs) {
  const missing = Object.keys(programs).filter((program) => !hasProgram(program));
  if (missing.length === 0) return { isInstalled: true, reason: "" };
  console.log(`Not installed here: ${missing.join(", ")}.`);
  return installPackages([...new Set(missing.map((program) => programs[program]))]);
}
