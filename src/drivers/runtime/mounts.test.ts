import { mkdir, mkdtemp, realpath, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isWithin } from "../../contract/mount-paths.ts";
import { checkSkills, sourceProblem, targetProblem } from "./mounts.ts";

const part = fc.stringMatching(/^[a-z]{1,6}$/);
const reserved = [
  "/proc",
  "/sys",
  "/dev",
  "/usr",
  "/etc",
  "/bin",
  "/sbin",
  "/lib",
  "/lib64",
  "/opt/agentbox",
  "/run/agentbox",
  "/run/secrets",
];

describe("mount targets", () => {
  it.each(["/data", "/data/in", "/workspace/cache", "/home/agent/.npm", "/mnt/x", "/opt/tools", "/tmp/x"])(
    "takes %s",
    (target) => {
      expect(targetProblem(target)).toBeUndefined();
    },
  );

  it.each([
    "",
    "data",
    "/",
    "/data/",
    "//data",
    "/data/../etc",
    "/./x",
    "/a\0b",
    "/home",
    "/home/agent",
    "/workspace",
    "/opt",
    "/run",
    "/tmp",
    "/var",
  ])("refuses %j", (target) => expect(targetProblem(target)).toBeDefined());

  it("refuses everything at or below a reserved path", () => {
    fc.assert(
      fc.property(fc.constantFrom(...reserved), fc.array(part), (path, parts) => {
        expect(targetProblem([path, ...parts].join("/"))).toBeDefined();
      }),
    );
  });

  it("never accepts a path that means another one", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.constantFrom("..", ".", ""))), (parts) => {
        const target = `/${parts.join("/")}`;
        if (targetProblem(target) === undefined) expect(new URL(`file://${target}`).pathname).toBe(target);
      }),
    );
  });
});

describe("mount sources", () => {
  const boxesDir = "/var/lib/agentbox/boxes";
  it.each(["/home/me/project", "/srv/data", "/var/cache/npm"])("takes %s", (source) => {
    expect(sourceProblem(source, boxesDir)).toBeUndefined();
  });

  it("refuses every directory above and below the boxes", () => {
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const own = ["", "home", ...parts].join("/");
        expect(sourceProblem([own, ...parts].join("/"), own)).toBeDefined();
        expect(sourceProblem(own, [own, ...parts].join("/"))).toBeDefined();
      }),
    );
  });

  it.each([
    "/",
    "/proc",
    "/proc/1/root",
    "/sys/fs/cgroup",
    "/dev/sda",
    "/run",
    "/run/docker.sock",
    "/var",
    "/var/lib",
  ])("refuses %s", (source) => {
    expect(sourceProblem(source, boxesDir)).toBeDefined();
  });
});

it("does not take a name that only starts the same for a directory within", () => {
  expect(isWithin("/usrlocal", "/usr")).toBe(false);
  expect(isWithin("/usr/local", "/usr")).toBe(true);
  expect(isWithin("/anything", "/")).toBe(true);
});

it("skills are shown as long as they are where they were, and not what a link in their place leads to", async () => {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "abx-skills-")));
  const [skills, secrets, boxesDir] = ["skills", "secrets", "boxes"].map((name) => join(dir, name));
  for (const path of [skills!, secrets!, boxesDir!]) await mkdir(path);
  await checkSkills(skills, boxesDir!);
  await checkSkills(undefined, boxesDir!);
  await rename(skills!, `${skills}.old`);
  await symlink(secrets!, skills!);
  await expect(checkSkills(skills, boxesDir!)).rejects.toMatchObject({ code: "mount.invalid" });
  await rm(dir, { recursive: true });
});
