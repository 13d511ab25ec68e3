import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { configFiles, HostEtc } from "./host-etc.ts";

const md5 = (text: string): string => createHash("md5").update(text).digest("hex");

describe("configFiles", () => {
  it("are those of installed packages, without what runs the machine", () => {
    const sum = md5("");
    const status = `Package: a
Status: install ok installed
Conffiles:
 /etc/a.conf ${sum}
 /etc/a/old ${sum} obsolete
 /etc/../root/x ${sum}
 /etc/shadow ${sum}
 /etc/sudoers.d/README ${sum}
 /etc/ssh/ssh_config ${sum}
 /etc/new newconffile
 /srv/a ${sum}
Description: a
 /etc/described ${sum}

Package: b
Status: deinstall ok config-files
Conffiles:
 /etc/b.conf ${sum}
`;
    expect(configFiles(status)).toEqual([{ path: "/etc/a.conf", md5: sum }]);
    expect(configFiles("")).toEqual([]);
  });
});

describe("HostEtc", () => {
  let root: string;
  let boxes: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "host-etc-"));
    boxes = join(root, "boxes");
    mkdirSync(boxes);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const write = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    chmodSync(join(root, path), mode);
  };
  const link = (target: string, path: string): void => symlinkSync(target, join(root, path));
  /** As dpkg does: another file in its place. */
  const record = (files: Readonly<Record<string, string>>): void => {
    const lines = Object.entries(files).map(([path, text]) => ` ${path} ${md5(text)}\n`);
    write("new", `Package: p\nStatus: install ok installed\nConffiles:\n${lines.join("")}`);
    mkdirSync(join(root, "var/lib/dpkg"), { recursive: true });
    renameSync(join(root, "new"), join(root, "var/lib/dpkg/status"));
  };
  const shown = async (): Promise<Record<string, string>> => {
    const staged = await new HostEtc(boxes, root).stage();
    if (staged === undefined) return {};
    const look = (path: string): [string, string][] =>
      readdirSync(join(staged.directory, path)).flatMap((name) => {
        const full = join(staged.directory, path, name);
        const found = lstatSync(full);
        if (found.isDirectory()) return look(`${path}/${name}`);
        return [
          [
            `${path}/${name}`,
            found.isSymbolicLink() ? `→ ${readlinkSync(full)}` : readFileSync(full, "utf8"),
          ],
        ];
      });
    return Object.fromEntries(look(""));
  };

  it("has what packages brought and nobody changed, and no other file", async () => {
    write("etc/p/brought", "public");
    write("etc/p/run", "script", 0o755);
    write("etc/p/edited", "password = canary");
    write("etc/p/group-only", "public", 0o640);
    write("etc/p/own", "not of a package");
    write("etc/closed/file", "public");
    chmodSync(join(root, "etc/closed"), 0o700);
    write("etc/elsewhere/file", "public");
    link(join(root, "etc/elsewhere"), "etc/linked");
    link("../elsewhere/file", "etc/p/link-file");
    record({
      "/etc/p/brought": "public",
      "/etc/p/run": "script",
      "/etc/p/edited": "password =",
      "/etc/p/group-only": "public",
      "/etc/p/gone": "public",
      "/etc/closed/file": "public",
      "/etc/linked/file": "public",
      "/etc/p/link-file": "public",
    });
    expect(await shown()).toEqual({ "/p/brought": "public", "/p/run": "script" });
    const { directory } = (await new HostEtc(boxes, root).stage())!;
    const modes = ["", "p", "p/brought", "p/run"].map(
      (path) => lstatSync(join(directory, path)).mode & 0o777,
    );
    expect(modes).toEqual([0o755, 0o755, 0o644, 0o755]);
  });

  it("has links to what a box has, and follows none", async () => {
    write("etc/p/available/site", "public");
    write("etc/p/available/secret", "canary");
    write("outside/secret", "canary");
    mkdirSync(join(root, "etc/p/enabled"));
    link("../available/site", "etc/p/enabled/site");
    link("/usr/share/p/module", "etc/p/enabled/module");
    link("/etc/alternatives/p", "etc/p/enabled/alternative");
    link("../available/secret", "etc/p/enabled/secret");
    link("/outside/secret", "etc/p/enabled/outside");
    link("/usr/../outside/secret", "etc/p/enabled/climbs");
    link("/etc", "etc/p/enabled/all");
    record({ "/etc/p/available/site": "public" });
    expect(await shown()).toEqual({
      "/p/available/site": "public",
      "/p/enabled/site": "→ /etc/p/available/site",
      "/p/enabled/module": "→ /usr/share/p/module",
      "/p/enabled/alternative": "→ /etc/alternatives/p",
    });
  });

  it("is copied once for each state of dpkg, and keeps a few", async () => {
    const etc = new HostEtc(boxes, root);
    expect(await etc.stage()).toBeUndefined();
    write("etc/p", "first");
    record({ "/etc/p": "first" });
    const first = await etc.stage();
    expect(first?.names).toEqual(["p"]);
    write("etc/p", "password");
    expect(await etc.stage()).toBe(first);
    // Another daemon, or this one after a restart, takes what is there.
    expect(await new HostEtc(boxes, root).stage()).toEqual(first);
    expect(await shown()).toEqual({ "/p": "first" });
    record({ "/etc/p": "second" });
    expect((await etc.stage())?.names).toEqual([]);
    for (const text of ["3", "4", "5", "6", "7"]) {
      record({ "/etc/p": text });
      await etc.stage();
    }
    expect(readdirSync(boxes).filter((name) => name.startsWith(".etc-"))).toHaveLength(5);
    expect(readdirSync(boxes).filter((name) => name.startsWith(".new-"))).toEqual([]);
  });

  it("shares one copy between callers at the same time", async () => {
    write("etc/p", "x");
    record({ "/etc/p": "x" });
    const one = new HostEtc(boxes, root);
    const all = await Promise.all([one.stage(), one.stage(), new HostEtc(boxes, root).stage()]);
    expect(all.map((staged) => staged?.names)).toEqual([["p"], ["p"], ["p"]]);
    expect(readdirSync(boxes)).toHaveLength(1);
  });
});
