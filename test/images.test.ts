import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AgentBoxError } from "../src/base/errors.ts";
import { omitUndefined } from "../src/base/omit-undefined.ts";
import type { ImageInfo } from "../src/contract/image.ts";
import type { Core } from "../src/core/context.ts";
import { buildImage } from "../src/core/images/build-image.ts";
import { getImage, pruneImages, removeImage } from "../src/core/images/remove-images.ts";
import { readSmallFile } from "../src/host/files.ts";
import type { ImageRecipe, Images } from "../src/ports/images.ts";
import { type TestHost, createOn, openTestCore, openTestHost } from "./support/core.ts";

const digest = `sha256:${"d".repeat(64)}`;
const how = { onProgress: () => undefined, signal: new AbortController().signal };

let host: TestHost;
let core: Core & AsyncDisposable;
let built: { recipe: ImageRecipe; image: ImageInfo }[];
let resolved: string[];
let pins: Map<string, string>;

const keyOf = ({ base, packages, manifest }: ImageRecipe) => JSON.stringify([base, packages, manifest]);

/** Builds nothing, and remembers everything. */
const memoryImages: Images = {
  requireEngine: async () => undefined,
  find: async (recipe) => built.find((entry) => keyOf(entry.recipe) === keyOf(recipe))?.image,
  async build(recipe) {
    const present = await memoryImages.find(recipe);
    if (present) return { image: present, isNew: false };
    const hex = String(built.length).padStart(64, "a");
    const image: ImageInfo = {
      inputs: `sha256:${hex}`,
      id: `sha256:${hex.replaceAll("a", "b")}`,
      reference: `localhost/agentbox/shell:${hex.slice(-12)}`,
      agent: recipe.agent.name,
      base: recipe.base ?? "debian",
      packages: [...recipe.packages],
      ...omitUndefined({ projectDir: recipe.projectDir }),
      bytes: 1,
      layers: [],
      warnings: [...recipe.warnings],
      builtAtMs: built.length,
    };
    built.unshift({ recipe, image });
    return { image, isNew: true };
  },
  async resolve(reference) {
    resolved.push(reference);
    return digest;
  },
  list: async () => built.map(({ image }) => image),
  async remove(inputs) {
    built = built.filter(({ image }) => image.inputs !== inputs);
  },
  sweep: async () => 7,
  sbom: async () => "{}",
};

beforeEach(async () => {
  [built, resolved, pins] = [[], [], new Map()];
  host = await openTestHost();
  const { module } = host;
  const open: typeof module.open = async (options) => {
    const runtime = await module.open(options);
    return { ...runtime, isolation: (box) => ({ ...runtime.isolation(box), tier: "container" }) };
  };
  core = await openTestCore({ ...host, module: { ...module, open } }, { images: memoryImages });
  Object.assign(core.ports.host, {
    realPath: (path: string) => realpath(path).catch(() => undefined),
    readProjectFile: (dir: string, name: string) => readSmallFile(join(dir, name), 1_000),
  });
  Object.assign(core.ports.toolStore, {
    pinnedImage: async (dir: string | undefined, reference: string) => pins.get(`${dir} ${reference}`),
    pinImage: async (dir: string | undefined, reference: string, to: string) =>
      void pins.set(`${dir} ${reference}`, to),
  });
});
afterEach(async () => {
  await core[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const project = async (name = "project"): Promise<string> => {
  const dir = join(await realpath(host.dir), name);
  await mkdir(dir, { recursive: true });
  return dir;
};
const flagsOf = (runtime: object) => ({ runtime, workspace: { mode: "empty" } });
const build = async (runtime: object, more: object = {}) =>
  buildImage(core, { flags: flagsOf(runtime), isFresh: false, ...more }, how);

describe("a box with packages", () => {
  it("is refused while its image is not built, and made from it by content when it is", async () => {
    const request = { name: "shop", flags: flagsOf({ packages: ["ripgrep"] }) };
    await expect(createOn(core, request)).rejects.toMatchObject({
      code: "image.not_built",
      hint: "Build it: agentbox build",
    });
    expect(await core.ports.store.listBoxes()).toEqual([]);
    const { image } = await build({ packages: ["ripgrep"] });
    expect((await createOn(core, request)).box.spec.image).toBe(image.id);
    await expect(
      createOn(core, { name: "other", flags: flagsOf({ packages: ["jq"] }) }),
    ).rejects.toMatchObject({
      code: "image.not_built",
    });
  });

  it("needs no image when it asks for none", async () => {
    const { box } = await createOn(core, { name: "plain", flags: { workspace: { mode: "empty" } } });
    expect(box.spec).not.toHaveProperty("image");
  });
});

describe("a project with a devcontainer.json", () => {
  const features = (...names: string[]) =>
    JSON.stringify({
      features: Object.fromEntries(names.map((name) => [`ghcr.io/devcontainers/features/${name}:1`, {}])),
    });

  it("has packages in the place of its features, and another image when they change", async () => {
    const dir = await project("featured");
    await writeFile(join(dir, ".devcontainer.json"), features("python", "kubectl"));
    const request = { name: "shop", projectDir: dir, flags: { workspace: { mode: "empty" } } };
    await expect(createOn(core, request)).rejects.toMatchObject({ code: "image.not_built" });
    const { image } = await build({ name: "memory" }, { projectDir: dir });
    expect(image.packages).toEqual(["python3", "python3-pip", "python3-venv"]);
    const { box, warnings } = await createOn(core, request);
    expect(box.spec.image).toBe(image.id);
    expect(warnings).toEqual([expect.stringContaining("features/kubectl:1")]);
    await writeFile(join(dir, ".devcontainer.json"), features("go"));
    await expect(createOn(core, { ...request, name: "other" })).rejects.toMatchObject({
      code: "image.not_built",
    });
  });

  it("is not looked at when the manifest names packages of its own", async () => {
    const dir = await project("own");
    await writeFile(join(dir, ".devcontainer.json"), JSON.stringify({ image: "debian:12" }));
    const { image } = await build({ name: "memory", packages: ["jq"] }, { projectDir: dir });
    expect(image).toMatchObject({ base: "debian", packages: ["jq"] });
  });
});

describe("a base without a digest", () => {
  it("is looked up once and pinned: in the project of its manifest, or on this host", async () => {
    const dir = await project();
    const manifest = { file: join(dir, "agentbox.toml"), text: "version = 1\n" };
    const { image } = await build({ image: "debian:12" }, { projectDir: dir, manifest });
    expect(image.base).toBe(`debian@${digest}`);
    await build({ image: "debian:12" }, { projectDir: dir, manifest });
    expect(resolved).toEqual(["debian:12"]);
    await build({ image: "debian:12" }, { projectDir: dir });
    expect([...pins.keys()]).toEqual([`${dir} debian:12`, "undefined debian:12"]);
    await build({ image: "debian:12" }, { projectDir: dir, manifest, isFresh: true });
    expect(resolved).toHaveLength(3);
    await build({ image: `node@${digest}` });
    expect(resolved).toHaveLength(3);
  });

  it("says which servers are not in the image, and notes what was built", async () => {
    const dir = await project();
    const text = `version = 1
[mcp.servers.fetched]
command = "npx"
args = ["-y", "some-server"]
[mcp.servers.present]
command = "/usr/bin/python3"
`;
    const manifest = { file: join(dir, "agentbox.toml"), text };
    const { image } = await build({ packages: ["python3"] }, { projectDir: dir, manifest });
    expect(image.warnings).toEqual([
      'The MCP server "fetched" is fetched by npx when it starts, so it is not in the image. With an exact version it would be: npx -y NAME@1.2.3',
    ]);
    const events = await core.ports.store.listEvents({ type: "image.built", limit: 10 });
    expect(events).toMatchObject([{ data: { id: image.id } }]);
  });
});

describe("an MCP server with an exact version", () => {
  const flags = {
    ...flagsOf({ name: "memory", packages: [] }),
    mcp: { servers: { docs: { command: "npx", args: ["-y", "@acme/docs@1.2.3", "--fast"] } } },
  };
  const installed = new Set<string>();
  const tool = (agent: string, version: string) => ({
    agent,
    version,
    source: "npm" as const,
    digest,
    bytes: 1,
    files: 1,
    installedAtMs: 0,
  });
  const serverStore: Core["ports"]["serverStore"] = {
    async install({ agent, recipe }) {
      expect(recipe).toEqual({ kind: "npm", package: "@acme/docs", version: "1.2.3" });
      installed.add(agent);
      return tool(agent, "1.2.3");
    },
    async use(agent, _recipe, version) {
      if (!installed.has(agent)) throw new AgentBoxError("tool.not_installed", "It is not installed.");
      return { tool: tool(agent, version!), dir: "/store/docs", program: "node_modules/@acme/docs/run.js" };
    },
  };

  it("is fetched by the build, and started in the box from the image", async () => {
    Object.assign(core.ports, { serverStore });
    const request = { name: "shop", flags };
    await expect(createOn(core, request)).rejects.toMatchObject({ code: "image.not_built" });
    expect(installed.size).toBe(0);
    const { image } = await buildImage(core, { flags, isFresh: false }, how);
    expect(image.warnings).toEqual([]);
    expect(built[0]!.recipe.servers).toEqual([
      {
        name: "docs",
        version: "1.2.3",
        digest,
        dir: "/store/docs",
        program: "node_modules/@acme/docs/run.js",
        purl: "pkg:npm/%40acme/docs@1.2.3",
      },
    ]);
    const { spec } = (await createOn(core, request)).box;
    expect(spec.mcp).toEqual([
      {
        transport: "stdio",
        name: "docs",
        command: "/opt/agentbox/mcp/docs/node_modules/@acme/docs/run.js",
        args: ["--fast"],
        env: {},
      },
    ]);
  });

  it("is asked about when a manifest of a repository names it", async () => {
    const text = `version = 1
[runtime]
name = "memory"
packages = []
[mcp.servers.docs]
command = "npx"
args = ["-y", "@acme/docs@1.2.3"]
`;
    const dir = await project("asked");
    const manifest = { file: join(dir, "agentbox.toml"), text };
    await expect(buildImage(core, { projectDir: dir, manifest, isFresh: false }, how)).rejects.toMatchObject({
      code: "trust.required",
      facts: { requests: ["have @acme/docs@1.2.3 from npm in its image, as the MCP server docs"] },
    });
    // The control: without an image the host fetches nothing and asks no one.
    const bare = { ...manifest, text: text.replace("packages = []\n", "") };
    await buildImage(core, { projectDir: dir, manifest: bare, isFresh: false }, how);
  });
});

describe("images that nothing needs", () => {
  it("are found by what people see, kept for boxes, and removed when asked", async () => {
    const { image } = await build({ packages: ["jq"] });
    await createOn(core, { name: "shop", flags: flagsOf({ packages: ["jq"] }) });
    for (const name of [image.reference, image.id, image.inputs, image.inputs.slice(7, 40)])
      expect(await getImage(core, name)).toEqual(image);
    await expect(getImage(core, "nothing")).rejects.toMatchObject({ code: "image.not_found" });
    await expect(removeImage(core, image.id)).rejects.toMatchObject({
      code: "image.in_use",
      facts: { boxes: ["shop"] },
    });
    expect(await pruneImages(core, { isDryRun: false })).toEqual({ removed: [], freedBytes: 7 });
  });

  it("are pruned, but for the newest of a project with a lock file", async () => {
    const locked = await project("locked");
    await writeFile(join(locked, "agentbox.lock"), "{}");
    const older = (await build({ packages: ["jq"] }, { projectDir: locked })).image;
    const newest = (await build({ packages: ["tree"] }, { projectDir: locked })).image;
    const loose = (await build({ packages: ["less"] }, { projectDir: await project("loose") })).image;
    const expected = [loose.reference, older.reference];
    expect(await pruneImages(core, { isDryRun: true })).toEqual({ removed: expected, freedBytes: 0 });
    expect(built).toHaveLength(3);
    expect(await pruneImages(core, { isDryRun: false })).toEqual({ removed: expected, freedBytes: 7 });
    expect(await core.ports.images.list()).toEqual([newest]);
  });
});
