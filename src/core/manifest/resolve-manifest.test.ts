import { describe, expect, it } from "vitest";
import { z } from "zod";
import { BoxSpec } from "../../contract/box.ts";
import { parseFlags, parseManifest, parseUserConfig } from "../../manifest/index.ts";
import { listMountSources } from "../trust/mount-requests.ts";
import { type ResolveOptions, maxTtlMs, resolveManifest } from "./resolve-manifest.ts";

const manifest = (text: string, file = "/srv/app/agentbox.toml") => {
  const parsed = parseManifest(`version = 1\n${text}`, { file, maxTtlMs: 365 * 86_400_000 });
  if (!parsed.layer) throw new Error(JSON.stringify(parsed.findings));
  return parsed.layer;
};
const userConfig = (text: string) =>
  parseUserConfig(text, { file: "/home/ada/.agentbox/config.toml" }).layer!;
const resolve = (options: Partial<ResolveOptions>) =>
  BoxSpec.parse(
    resolveManifest({
      layers: [],
      projectDir: "/srv/app",
      userHome: "/home/ada",
      agentboxHome: "/home/ada/.agentbox",
      hostEnv: (name) => (name === "CI" ? "true" : undefined),
      defaultMode: "clone",
      ...options,
    }),
  );
const refusal = (options: Partial<ResolveOptions>) => {
  try {
    return resolve(options);
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

describe("resolving a manifest", () => {
  it("without one, the defaults make a working box", () => {
    expect(resolve({})).toEqual({
      agent: { name: "shell", args: [], autonomy: "full", options: {} },
      budget: [],
      mcp: [],
      checks: [],
      secrets: [],
      workspace: { mode: "clone", source: "/srv/app", carry: "none" },
      runtime: "bubblewrap",
      resources: { pids: 4096, required: [] },
      mounts: [],
      env: {},
      services: [],
      lifecycle: { ttlMs: 432_000_000, restart: "no", stopGraceMs: 10_000 },
    });
    expect(resolve({ projectDir: undefined }).workspace).toEqual({ mode: "empty", carry: "none" });
  });

  it("units become numbers, and what was named is required", () => {
    const spec = resolve({
      layers: [
        userConfig("[resources]\ncpus = 2"),
        manifest('[resources]\nmemory = "2GiB"\n[lifecycle]\nttl = "1h"\nidle = "10m"\nstop_grace = "3s"'),
        parseFlags({ resources: { disk: "1GB" } }),
      ],
    });
    expect(spec.resources).toEqual({
      cpus: 2,
      memoryBytes: 2 ** 31,
      pids: 4096,
      diskBytes: 1e9,
      required: ["cpus", "memory", "disk"],
    });
    expect(spec.lifecycle).toEqual({ ttlMs: 3_600_000, idleMs: 600_000, restart: "no", stopGraceMs: 3_000 });
  });

  it("services get a command, a directory and a readiness probe", () => {
    const { services } = resolve({
      layers: [
        manifest(`[services.db]\ncommand = ["postgres", "-D", "x"]\ncwd = "/srv"\nready = { log = "ready" }
[services.web]\ncommand = "npm run dev"\ncwd = "web"\nafter = ["db"]\nready = { command = "true" }\nready_timeout = "5s"\nrestart = "always"`),
      ],
    });
    expect(services[0]).toEqual({
      name: "db",
      argv: ["postgres", "-D", "x"],
      cwd: "/srv",
      env: {},
      after: [],
      ready: { kind: "log", pattern: "ready" },
      readyTimeoutMs: 60_000,
      restart: "on-failure",
    });
    expect(services[1]).toMatchObject({
      argv: ["/bin/sh", "-c", "npm run dev"],
      cwd: "/workspace/web",
      after: ["db"],
      ready: { kind: "command", argv: ["/bin/sh", "-c", "true"] },
      readyTimeoutMs: 5_000,
      restart: "always",
    });
  });

  it("variables come from the text or from the host, and a missing one is said", () => {
    const env = '[env]\nA = "1"\nB = { from_host = "CI" }';
    expect(resolve({ layers: [manifest(env)] }).env).toEqual({ A: "1", B: "true" });
    expect(refusal({ layers: [manifest(`${env}\nC = { from_host = "NOPE" }`)] })).toBe("manifest.invalid");
  });

  it("the user config raises and lowers the longest life, the manifest does not", () => {
    const long = manifest('[lifecycle]\nttl = "10d"');
    expect(refusal({ layers: [long] })).toBe("manifest.invalid");
    const raised = userConfig('[limits]\nmax_ttl = "20d"');
    expect(resolve({ layers: [raised, long] }).lifecycle.ttlMs).toBe(864_000_000);
    const lowered = userConfig('[limits]\nmax_ttl = "1d"');
    expect(resolve({ layers: [lowered] }).lifecycle.ttlMs).toBe(86_400_000);
    expect(maxTtlMs([lowered])).toBe(86_400_000);
    expect(maxTtlMs([{ ...raised, source: "manifest" }])).toBe(432_000_000);
  });

  it("a mode that needs a project is refused without one", () => {
    const layers = [manifest('[workspace]\nmode = "copy"')];
    expect(resolve({ layers }).workspace.mode).toBe("copy");
    expect(refusal({ layers, projectDir: undefined })).toBe("workspace.source_invalid");
  });
});

describe("resolving what the box is made of", () => {
  const vm = '[security.exceptions.vm]\nreason = "runs the emulator"\n';

  it("takes image, packages and the exceptions that hold", () => {
    const text = `[runtime]\nimage = "debian:12"\npackages = ["git", "curl", "git"]\n${vm}devices = ["/dev/kvm"]
capabilities = ["CAP_IPC_LOCK", "ipc_lock"]\n[security.exceptions.off]\nreason = "is not enabled"\nfeature = "x"\ngpus = 1`;
    expect(resolve({ layers: [manifest(text)], runtime: "docker" })).toMatchObject({
      runtime: "docker",
      image: "debian:12",
      packages: ["curl", "git"],
      exceptions: [
        {
          name: "vm",
          reason: "runs the emulator",
          devices: ["/dev/kvm"],
          tmpfs: {},
          capabilities: ["IPC_LOCK"],
          gpus: 0,
        },
      ],
    });
  });

  it("a feature of the user config enables an exception of the manifest, and a later layer replaces one", () => {
    const layers = [
      userConfig('[runtime]\nfeatures = ["gpu"]'),
      manifest(`${vm}feature = "gpu"\ntmpfs = { "/scratch" = "1MiB" }`),
    ];
    expect(resolve({ layers }).exceptions).toMatchObject([{ tmpfs: { "/scratch": 1_048_576 } }]);
    expect(resolve({ layers: layers.slice(1) })).not.toHaveProperty("exceptions");
    const typed = parseFlags({ security: { exceptions: { vm: { reason: "typed by hand", gpus: 1 } } } });
    expect(resolve({ layers: [...layers, typed] }).exceptions).toMatchObject([{ gpus: 1, tmpfs: {} }]);
  });

  it("a devcontainer.json is below the manifest", () => {
    const devcontainer = { file: "x", image: "node:22", env: { A: "1", B: "1" }, warnings: [] };
    const spec = resolve({ layers: [manifest('[env]\nB = "2"')], devcontainer });
    expect(spec).toMatchObject({ image: "node:22", env: { A: "1", B: "2" } });
  });
});

describe("resolving the agent", () => {
  const agents = {
    demo: {
      name: "demo",
      options: z.strictObject({
        speed: z.enum(["slow", "fast"]).default("slow"),
        turns: z.int().optional(),
        note: z.string().optional(),
        loud: z.boolean().optional(),
      }),
    },
  };
  const optionsOf = (...layers: ResolveOptions["layers"]) => resolve({ agents, layers }).agent.options;
  const demo = (text: string) => manifest(`[agent]\nname = "demo"\n${text}`);

  it("takes what the manifest says about it", () => {
    const layers = [
      demo('version = "1.2.3"\nautonomy = "edit"\ninstructions = "be brief"\nskills = "skills"'),
    ];
    expect(resolve({ agents, layers }).agent).toEqual({
      name: "demo",
      args: [],
      version: "1.2.3",
      autonomy: "edit",
      options: { speed: "slow" },
      instructions: "be brief",
      skills: "/srv/app/skills",
    });
  });

  it("options add up by name, and what is typed is read by the agent's schema", () => {
    const typed = parseFlags({ agent: { options: { turns: "5", note: "5", loud: "true" } } });
    expect(optionsOf(demo('options = { speed = "fast", turns = 2 }'), typed)).toEqual({
      speed: "fast",
      turns: 5,
      note: "5",
      loud: true,
    });
  });

  it("an option it does not have or take is refused", () => {
    for (const options of [{ sped: "slow" }, { speed: "medium" }, { turns: "many" }]) {
      const layers = [parseFlags({ agent: { name: "demo", options } })];
      expect(refusal({ agents, layers }), JSON.stringify(options)).toBe("agent.option_invalid");
    }
  });

  it("options and version belong to the agent they were written for", () => {
    const layers = [
      demo('version = "1.2.3"\noptions = { turns = 2 }'),
      parseFlags({ agent: { name: "shell" } }),
    ];
    expect(resolve({ agents, layers }).agent).toEqual({
      name: "shell",
      args: [],
      autonomy: "full",
      options: {},
    });
  });

  it("skills are judged by where they really are", () => {
    const layers = [demo('skills = "skills"')];
    expect(listMountSources({ layers, projectDir: "/srv/app", userHome: "/home/ada" })).toEqual([
      "/srv/app/skills",
    ]);
    expect(resolve({ layers, realPath: () => "/srv/real" }).agent.skills).toBe("/srv/real");
    expect(refusal({ layers, realPath: () => "/home/ada" })).toBe("mount.invalid");
  });
});

describe("a workspace in a home directory", () => {
  const mode = (text: string) => [manifest(`[workspace]\nmode = "${text}"`)];

  it("is empty unless the home is a repository", () => {
    expect(resolve({ projectDir: "/home/ada/app", defaultMode: "copy" }).workspace.mode).toBe("copy");
    for (const projectDir of ["/home/ada", "/home", "/"]) {
      expect(resolve({ projectDir, defaultMode: "copy" }).workspace).toEqual({
        mode: "empty",
        carry: "none",
      });
    }
    expect(resolve({ projectDir: "/home/ada", defaultMode: "clone" }).workspace.mode).toBe("clone");
  });

  it("is neither copied nor mounted, even when asked for", () => {
    for (const asked of ["copy", "mount"]) {
      expect(resolve({ projectDir: "/home/ada/app", layers: mode(asked) }).workspace.mode).toBe(asked);
      expect(refusal({ projectDir: "/home/ada", layers: mode(asked) })).toBe("workspace.source_invalid");
    }
    expect(refusal({ projectDir: "/home/ada/.agentbox", layers: mode("mount") })).toBe(
      "workspace.source_invalid",
    );
  });
});

describe("resolving mounts", () => {
  const mount = (source: string, target = "/data") =>
    manifest(`[[mounts]]\nsource = "${source}"\ntarget = "${target}"`);

  it("paths are absolute, from the manifest, the home or the root", () => {
    const sourceOf = (source: string) => resolve({ layers: [mount(source)] }).mounts[0]!.source;
    expect(sourceOf("data/../models")).toBe("/srv/app/models");
    expect(sourceOf("../shared")).toBe("/srv/shared");
    expect(sourceOf("~/models")).toBe("/home/ada/models");
    expect(sourceOf("/srv//data/")).toBe("/srv/data");
  });

  it("the caller resolves links, and what they lead to is judged", () => {
    const layers = [mount("link")];
    const inputs = { layers, projectDir: "/srv/app", userHome: "/home/ada" };
    expect(listMountSources(inputs)).toEqual(["/srv/app/link"]);
    expect(resolve({ layers, realPath: () => "/srv/real" }).mounts[0]!.source).toBe("/srv/real");
    for (const real of ["/", "/home/ada", "/home", "/run/user/1000", "/home/ada/.agentbox/daemon.sock"]) {
      expect(refusal({ layers, realPath: () => real }), real).toBe("mount.invalid");
    }
  });

  it("a relative path cannot climb to a home", () => {
    expect(resolve({ layers: [mount("../data")] }).mounts).toHaveLength(1);
    expect(refusal({ layers: [mount("../../home/ada")] })).toBe("mount.invalid");
    expect(refusal({ layers: [mount("../../..")] })).toBe("mount.invalid");
    expect(
      refusal({ layers: [parseFlags({ mounts: [{ source: "x", target: "/x" }] })], projectDir: undefined }),
    ).toBe("mount.invalid");
  });

  it("come in the order of their targets, and are read-only unless asked", () => {
    const layers = [
      manifest(
        '[[mounts]]\nsource = "b"\ntarget = "/models"\naccess = "write"\n[[mounts]]\nsource = "a"\ntarget = "/data"',
      ),
    ];
    expect(resolve({ layers }).mounts).toEqual([
      { source: "/srv/app/a", target: "/data", readOnly: true },
      { source: "/srv/app/b", target: "/models", readOnly: false },
    ]);
  });
});
