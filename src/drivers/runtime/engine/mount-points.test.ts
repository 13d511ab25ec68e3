import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { BoxDirs, RuntimeBox } from "../../../ports/runtime.ts";
import { makeMountPoints, refuseUnspeakable } from "./mount-points.ts";

const isRoot = process.getuid?.() === 0;
/** Only root can give something to another user. */
const owner = isRoot ? { uid: 54_321, gid: 54_321 } : { uid: process.getuid!(), gid: process.getgid!() };

describe("mount points", () => {
  let root: string;
  let dirs: BoxDirs;
  const make = (source: string, ...targets: string[]): void =>
    makeMountPoints({ dirs, owner, mounts: targets.map((target) => ({ source, target, readOnly: true })) });
  const at = (...parts: string[]): string => join(root, ...parts);

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "points-"));
    for (const name of ["home", "workspace", "source", "victim"]) mkdirSync(at(name));
    dirs = { home: at("home"), workspace: at("workspace"), link: at("link"), runtime: at("runtime") };
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it("are the box's user's, each part of the way", () => {
    make(at("source"), "/workspace/a/b", "/home/agent/c", "/data/elsewhere");
    for (const path of [at("workspace/a"), at("workspace/a/b"), at("home/c")])
      expect(lstatSync(path)).toMatchObject(owner);
    expect(existsSync(at("home/data"))).toBe(false);
  });

  it("are files for files, and leave what is there as it is", () => {
    writeFileSync(at("source/file"), "x");
    writeFileSync(at("workspace/kept"), "kept");
    make(at("source/file"), "/workspace/new", "/workspace/kept");
    expect(lstatSync(at("workspace/new"))).toMatchObject({ ...owner, size: 0 });
    expect(readFileSync(at("workspace/kept"), "utf8")).toBe("kept");
    expect(lstatSync(at("workspace/kept")).uid).toBe(process.getuid!());
  });

  it("are made through no link, and give nothing behind one away", () => {
    for (const [link, target] of [
      ["workspace/a", "/workspace/a/b"],
      ["workspace/last", "/workspace/last"],
    ] as const) {
      symlinkSync(at("victim"), at(link));
      expect(() => make(at("source"), target)).toThrow(/cannot be mounted at/);
    }
    expect(existsSync(at("victim/b"))).toBe(false);
    expect(lstatSync(at("victim")).uid).toBe(process.getuid!());
  });
});

describe("paths that Podman would read as more than a path", () => {
  const boxWith = (source: string, target = "/data", workspace = "/b/workspace"): RuntimeBox => ({
    name: "b",
    owner,
    dirs: { home: "/b/home", workspace, link: "/b/link", runtime: "/b/runtime" },
    tools: { node: "/n/node", boxd: "/n/boxd" },
    mounts: [{ source, target, readOnly: true }],
    resources: { required: [] },
  });

  it.each([
    boxWith("/srv/a,readonly=false"),
    boxWith('/srv/a"b'),
    boxWith("/srv/a\nb"),
    boxWith("/srv/a", "/data,rw"),
    boxWith("/srv/a", "/data", "/b/x,y"),
  ])("are refused there, and nowhere else", (box) => {
    expect(() => refuseUnspeakable({ kind: "podman" }, box)).toThrow(
      expect.objectContaining({ code: "mount.invalid" }),
    );
    expect(() => refuseUnspeakable({ kind: "docker" }, box)).not.toThrow();
  });

  it("leave every other path alone", () => {
    expect(() => refuseUnspeakable({ kind: "podman" }, boxWith("/srv/a b:c=d;e'f"))).not.toThrow();
  });
});
