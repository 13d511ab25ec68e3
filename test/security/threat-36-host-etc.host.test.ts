/**
 * What a box sees of the host's /etc is what packages brought, byte for byte. Secrets that people wrote into such files, and
 * files that others cannot read on the host, are in no box. The system here is a copy of the host's with traps in it.
 */
import { createHash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { hasProgram, isRoot } from "../support/host-facts.ts";
import { describeUnless } from "../support/skipping.ts";
import { emptyBox, type Ground, inBox, onEachDaemon, shellInBox } from "./attack.ts";

const canary = "canary-of-the-host";
const status = "/var/lib/dpkg/status";

const why = !isRoot
  ? "only root can show a daemon another /etc"
  : !hasProgram("dpkg")
    ? "there is no dpkg"
    : undefined;

/** Directories to remove at the end. */
const planted: string[] = [];
afterAll(() => {
  for (const directory of planted) rmSync(directory, { recursive: true });
});

/** A copy of /etc and of dpkg's record, with files of one more package. */
function plant(): { readonly etc: string; readonly status: string } {
  const directory = mkdtempSync("/tmp/abx-etc-");
  planted.push(directory);
  chmodSync(directory, 0o711);
  const etc = join(directory, "etc");
  cpSync("/etc", etc, { recursive: true, verbatimSymlinks: true });
  chmodSync(etc, 0o755);
  const record = join(directory, "status");
  copyFileSync(status, record);
  const trap = join(etc, "trap");
  mkdirSync(join(trap, "closed"), { recursive: true });
  const files: readonly [string, string, string, number][] = [
    ["brought", "as-its-package-brought-it\n", "as-its-package-brought-it\n", 0o644],
    ["edited", "password =\n", `password = ${canary}\n`, 0o644],
    ["group-only", `${canary}\n`, `${canary}\n`, 0o640],
    ["closed/inside", `${canary}\n`, `${canary}\n`, 0o644],
  ];
  for (const [name, , text, mode] of files) {
    writeFileSync(join(trap, name), text);
    chmodSync(join(trap, name), mode);
  }
  chmodSync(join(trap, "closed"), 0o700);
  symlinkSync("/etc/shadow", join(trap, "accounts"));
  symlinkSync(join(directory, "status"), join(trap, "outside"));
  symlinkSync("edited", join(trap, "link-to-edited"));
  symlinkSync("brought", join(trap, "link-to-brought"));
  writeFileSync(join(trap, "own"), `${canary}\n`);
  chmodSync(join(trap, "own"), 0o644);
  const sum = (text: string): string => createHash("md5").update(text).digest("hex");
  const lines = files.map(([name, brought]) => ` /etc/trap/${name} ${sum(brought)}\n`);
  appendFileSync(
    record,
    `\nPackage: trap\nStatus: install ok installed\nConffiles:\n${lines.join("")}Description: x\n`,
  );
  return { etc, status: record };
}

/** The daemon in a mount namespace of its own, where the copies are in place. */
const script = `mount --bind "$1" /etc && mount --bind "$2" ${status} && shift 2 && exec "$@"`;
const wrap = (argv: readonly string[]): readonly string[] => {
  const copies = plant();
  const enter = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"];
  return [...enter, copies.etc, copies.status, ...argv];
};

const cases = (ground: Ground): void => {
  it("shows the file that its package brought, and none that anybody changed or closed", async () => {
    const { daemon } = ground;
    const box = await emptyBox(daemon, "looks-at-etc");
    // The control: the daemon's own /etc has all of them, and a person reads the secret there.
    const outside = readFileSync(`/proc/${daemon.pid}/root/etc/trap/edited`, "utf8");
    expect(outside).toContain(canary);
    const { stdout } = await shellInBox(
      daemon,
      box,
      "cd /etc/trap/ && find . ! -type d | sort && cat brought link-to-brought",
    );
    expect(stdout).toBe(
      "./brought\n./link-to-brought\nas-its-package-brought-it\nas-its-package-brought-it\n",
    );
    const search = ["grep", "-rsl", "-e", canary, "-e", "as-its-package-brought-it"];
    const found = await inBox(daemon, box, [...search, "/etc", "/opt", "/run", "/var", "/home"]);
    expect(found.stdout).toBe("/opt/agentbox/etc/trap/brought\n");
  });

  it("keeps its own accounts, names and network, and lets nothing be written", async () => {
    const { daemon } = ground;
    const box = await emptyBox(daemon, "own-etc");
    const { stdout } = await shellInBox(
      daemon,
      box,
      `wc -l < /etc/passwd; cat /etc/hostname
       ls -d /etc/shadow /etc/sudoers /etc/ssh /etc/ssl/private /etc/fstab /etc/crontab /opt/agentbox/etc/passwd 2> /dev/null
       for f in /etc/trap/brought /etc/trap/new /etc/new /opt/agentbox/etc/trap/brought; do echo x 2> /dev/null >> $f && echo "wrote $f"; done
       rm -rf /etc/trap/brought 2> /dev/null; mv /etc/trap /tmp/x 2> /dev/null; cat /etc/trap/brought`,
    );
    expect(stdout).toBe("3\nown-etc\nas-its-package-brought-it\n");
  });

  it("shows no link out of what it shows", async () => {
    const { daemon } = ground;
    const box = await emptyBox(daemon, "follows-links");
    const { stdout } = await shellInBox(
      daemon,
      box,
      `find /opt/agentbox/etc/ -type l -printf '%l\\n' | grep -vE '^/usr/|^/etc/'; ls /etc/trap/accounts /etc/trap/outside 2> /dev/null; echo looked`,
    );
    expect(stdout).toBe("looked\n");
  });
};

describeUnless(why)("the host's /etc", () => {
  onEachDaemon("of a system with traps", cases, { wrap });
});
