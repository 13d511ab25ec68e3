import { describe, expect, it } from "vitest";
import { chainMark, launchArgv, type LaunchInput } from "./launch-plan.ts";
import { nowhere } from "./limits/limiter.ts";

const input: LaunchInput = {
  name: "team-app",
  dirs: {
    runtime: "/b/team-app/runtime",
    link: "/b/team-app/link",
    home: "/b/team-app/home",
    workspace: "/b/team-app/ws",
  },
  tools: { node: "/n/node", boxd: "/n/boxd" },
  mounts: [
    { source: "/srv/in", target: "/data/in", readOnly: true },
    { source: "/srv/out", target: "/data/out", readOnly: false },
  ],
  guardedNames: [],
  resources: { memoryBytes: 512 * 2 ** 20, required: [] },
  files: [],
  layout: {
    entries: [
      { kind: "bind", path: "/usr" },
      { kind: "symlink", path: "/bin", target: "usr/bin" },
    ],
    maskedFiles: ["/proc/keys"],
  },
  programs: { sh: "/bin/sh", bwrap: "/usr/bin/bwrap", setpriv: "/usr/bin/setpriv" },
  placement: nowhere,
  descriptors: { status: 3, seccomp: 4, files: [{ path: "/etc/passwd", fd: 5 }] },
  become: undefined,
  command: ["/opt/agentbox/bin/node", "/opt/agentbox/boxd/boxd.js"],
};

describe("launchArgv", () => {
  it("is this for an ordinary user", () => {
    expect(launchArgv(input).join("\n")).toMatchSnapshot();
  });

  it("joins the control groups as root, then drops, then makes namespaces", () => {
    const placement = {
      enter: ["/cg/memory/x/cgroup.procs"],
      aroundChain: [],
      aroundBox: ["/usr/bin/prlimit", "--nproc=9:9"],
    };
    const argv = launchArgv({ ...input, placement, become: { uid: 100_001, gid: 100_002 } });
    expect(argv.slice(0, 7)).toEqual([
      "/bin/sh",
      "-c",
      expect.any(String),
      "enter",
      "/cg/memory/x/cgroup.procs",
      "--",
      "/usr/bin/setpriv",
    ]);
    expect(argv).toContain("100001");
    const [outer, inner] = argv.flatMap((word, at) => (word === "/usr/bin/bwrap" ? [at] : []));
    expect(argv.indexOf("/usr/bin/setpriv")).toBeLessThan(outer!);
    // Inside the outer user namespace: counted there, not among the person's other processes.
    expect(argv.indexOf("/usr/bin/prlimit")).toBeGreaterThan(outer!);
    expect(argv.indexOf("/usr/bin/prlimit")).toBeLessThan(inner!);
  });

  it("never gives the box the host's root, nor the outer one to the inner", () => {
    const argv = launchArgv(input);
    const inner = argv.slice(argv.lastIndexOf("/usr/bin/bwrap"));
    const sources = inner.flatMap((word, at) => (/^--(ro-|dev-)?bind$/.test(word) ? [inner[at + 1]] : []));
    expect(sources).not.toContain("/");
    expect(inner).not.toContain("--dev-bind");
    expect(inner.lastIndexOf("--remount-ro")).toBeGreaterThan(inner.lastIndexOf("--bind"));
  });

  it("puts our files over the system's, after the directories they are in", () => {
    const target = "/etc/ssl/certs/ca-certificates.crt";
    const layout = { entries: [{ kind: "bind" as const, path: "/etc/ssl/certs" }], maskedFiles: [] };
    const argv = launchArgv({ ...input, layout, files: [{ source: "/s/ca.crt", target }] });
    const at = argv.indexOf("/s/ca.crt");
    expect(argv.slice(at - 1, at + 2)).toEqual(["--ro-bind", "/s/ca.crt", target]);
    expect(at).toBeGreaterThan(argv.lastIndexOf("/etc/ssl/certs"));
    expect(argv.lastIndexOf("--remount-ro")).toBeGreaterThan(at);
  });

  it("keeps hostile text out of every shell text", () => {
    const hostile = '$(touch /tmp/x); "`\n';
    const argv = launchArgv({ ...input, mounts: [{ source: hostile, target: "/data", readOnly: true }] });
    const scripts = argv.flatMap((word, at) => (word === "-c" ? [argv[at + 1]!] : []));
    expect(scripts.length).toBeGreaterThan(0);
    for (const script of scripts) expect(script).not.toContain("touch");
    expect(argv).toContain(hostile);
  });

  it("carries the mark by which its processes are found again", () => {
    const argv = launchArgv(input);
    const [, link] = chainMark(input.dirs.link);
    expect(argv[argv.indexOf(link) - 1]).toBe("--ro-bind");
    expect(argv[argv.indexOf(link) + 1]).toBe("/run/agentbox");
  });
});
