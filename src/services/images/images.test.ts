import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { AgentBoxError } from "../../base/errors.ts";
import { imageLabels } from "../../contract/image.ts";
import type { ImageRecipe, ImageServer } from "../../ports/images.ts";
import { MemoryEngine, baseReference, openImageGround } from "./images.fixture.ts";

const serverIn = ({ agent }: ImageRecipe): ImageServer => ({
  name: "docs",
  version: "1.2.3",
  digest: `sha256:${"4".repeat(64)}`,
  dir: agent.tool!.dir,
  program: "a.js",
  purl: "pkg:npm/docs@1.2.3",
});

describe("building", () => {
  it("gives the same image for the same inputs, from other directories and on a fresh cache", async () => {
    await using one = await openImageGround();
    await using other = await openImageGround({ salt: 7 });
    const first = await one.images.build(one.recipe, one.options);
    const second = await other.images.build(other.recipe, other.options);
    expect(first.isNew && second.isNew).toBe(true);
    expect(second.image.id).toBe(first.image.id);
    expect(second.image.inputs).toBe(first.image.inputs);
    expect(await other.images.sbom(second.image.inputs)).toBe(await one.images.sbom(first.image.inputs));
  });

  it("gives another image when anything of it changes", async () => {
    await using ground = await openImageGround();
    const { recipe, images, options } = ground;
    const first = (await images.build(recipe, options)).image;
    const ids = new Set([first.id]);
    const tool = recipe.agent.tool!;
    for (const changed of [
      { ...recipe, manifest: `sha256:${"3".repeat(64)}` },
      { ...recipe, skills: undefined },
      { ...recipe, agent: { name: "tiny", tool: { ...tool, version: "1.0.1" } } },
      { ...recipe, agent: { name: "other", tool } },
      { ...recipe, agent: { name: "tiny" } },
      { ...recipe, servers: [serverIn(recipe)] },
      { ...recipe, servers: [{ ...serverIn(recipe), digest: `sha256:${"5".repeat(64)}` }] },
    ]) {
      ids.add((await images.build(changed, options)).image.id);
    }
    await writeFile(join(recipe.skills!, "a.js"), "changed");
    expect(await images.find(recipe)).toBeUndefined();
    ids.add((await images.build(recipe, options)).image.id);
    expect(ids.size).toBe(9);
  });

  it("has the package of an MCP server in a layer of its own, and lists it", async () => {
    await using ground = await openImageGround();
    const { recipe, images, options } = ground;
    const { image } = await images.build({ ...recipe, servers: [serverIn(recipe)] }, options);
    expect(image.layers.map(({ name }) => name)).toEqual([
      "base",
      "node",
      "boxd",
      "agent tiny",
      "mcp docs",
      "skills",
    ]);
    const { components } = JSON.parse(await images.sbom(image.inputs)) as { components: object[] };
    expect(components).toContainEqual(
      expect.objectContaining({ name: "docs", version: "1.2.3", purl: "pkg:npm/docs@1.2.3" }),
    );
  });

  it("does nothing when nothing has changed, and shares layers between agents", async () => {
    await using ground = await openImageGround();
    const { recipe, images, options, engine } = ground;
    const first = await images.build(recipe, options);
    const again = await images.build(recipe, options);
    expect(again).toEqual({ image: first.image, isNew: false });
    expect(await images.find(recipe)).toEqual(first.image);
    expect(engine.loads).toBe(1);
    expect(engine.saved).toBe(1);
    const other = await images.build({ ...recipe, agent: { name: "shell" } }, options);
    const digests = (image: typeof first.image) => image.layers.map(({ digest }) => digest);
    expect(digests(first.image)).toEqual(expect.arrayContaining(digests(other.image)));
    expect(engine.saved).toBe(1);
  });

  it("builds again what somebody has removed from the engine", async () => {
    await using ground = await openImageGround();
    const { recipe, images, options, engine } = ground;
    const { image } = await images.build(recipe, options);
    engine.images.delete(image.reference);
    expect(await images.find(recipe)).toBeUndefined();
    expect(await images.build(recipe, options)).toMatchObject({ isNew: true, image: { id: image.id } });
  });

  it("makes one build of two at once", async () => {
    await using ground = await openImageGround();
    const { recipe, images, options, engine } = ground;
    const [a, b] = await Promise.all([images.build(recipe, options), images.build(recipe, options)]);
    expect([a.isNew, b.isNew]).toEqual([true, false]);
    expect(engine.loads).toBe(1);
  });

  it("labels the image and lists its parts", async () => {
    await using ground = await openImageGround();
    const { recipe, images, options, engine } = ground;
    const { image } = await images.build(recipe, options);
    expect((await engine.find(image.id))!.labels).toEqual({
      [imageLabels.inputs]: image.inputs,
      [imageLabels.agent]: "tiny@1.0.0",
      [imageLabels.manifest]: recipe.manifest,
    });
    const { components } = JSON.parse(await images.sbom(image.inputs)) as { components: { name: string }[] };
    expect(components.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["libc6", "node", "agentbox-boxd", "tiny", "skills"]),
    );
  });
});

describe("what goes wrong", () => {
  it("leaves nothing behind when the engine fails or the build is interrupted", async () => {
    await using ground = await openImageGround();
    const { recipe, images, options, engine, dir } = ground;
    // Left behind by a daemon that was killed.
    await mkdir(join(dir, "images", "layers", ".0123", "chroot"), { recursive: true });
    engine.failure = new AgentBoxError("image.build_failed", "gone");
    await expect(images.build(recipe, options)).rejects.toMatchObject({ code: "image.build_failed" });
    const stop = new AbortController();
    stop.abort();
    await expect(images.build(recipe, { ...options, signal: stop.signal })).rejects.toMatchObject({
      code: "image.build_failed",
    });
    expect(await images.list()).toEqual([]);
    const left = await readdir(join(dir, "images", "layers"));
    expect(left.filter((name) => name.startsWith("."))).toEqual([]);
    engine.failure = undefined;
    expect((await images.build(recipe, options)).isNew).toBe(true);
  });

  it("refuses links out of a tree, names with more in them, and packages on a named image", async () => {
    await using ground = await openImageGround();
    const { recipe, images, options } = ground;
    await expect(images.build({ ...recipe, base: "debian:12;id" }, options)).rejects.toMatchObject({
      code: "image.invalid",
    });
    await expect(images.build({ ...recipe, packages: ["ripgrep"] }, options)).rejects.toMatchObject({
      code: "image.invalid",
    });
    await symlink("/etc/passwd", join(recipe.skills!, "out"));
    await expect(images.build(recipe, options)).rejects.toMatchObject({ code: "image.invalid" });
  });

  it("loads no layer that was changed on disk", async () => {
    await using ground = await openImageGround();
    const { recipe, images, options, dir } = ground;
    const { image } = await images.build(recipe, options);
    const layer = image.layers.find(({ name }) => name === "skills")!;
    const file = join(dir, "images", "layers", `${layer.digest.slice(7)}.tar`);
    await writeFile(file, Buffer.alloc(layer.bytes));
    const changed = { ...recipe, manifest: `sha256:${"4".repeat(64)}` };
    await expect(images.build(changed, options)).rejects.toMatchObject({ code: "image.build_failed" });
    expect((await images.build(changed, { ...options, isFresh: true })).isNew).toBe(true);
  });

  it("says what a reference stands for, and asks the registry only for what the engine lacks", async () => {
    await using ground = await openImageGround();
    const { images, options, engine } = ground;
    expect(await images.resolve(baseReference, options)).toMatch(/^sha256:/);
    expect(engine.pulls).toEqual([]);
    await expect(images.resolve("nowhere.test/x:1", options)).rejects.toMatchObject({
      code: "image.not_found",
    });
    expect(engine.pulls).toEqual(["nowhere.test/x:1"]);
  });
});

describe("removing", () => {
  it("removes the image, and with a sweep the layers that nothing else needs", async () => {
    await using ground = await openImageGround({ engine: new MemoryEngine() });
    const { recipe, images, options, engine, dir } = ground;
    const kept = (await images.build({ ...recipe, agent: { name: "shell" } }, options)).image;
    const gone = (await images.build(recipe, options)).image;
    await images.remove(gone.inputs);
    await images.remove(gone.inputs);
    expect(await images.list()).toEqual([kept]);
    expect(await engine.find(gone.reference)).toBeUndefined();
    expect(await images.sweep()).toBeGreaterThan(0);
    const files = (await readdir(join(dir, "images", "layers"))).filter((name) => name.endsWith(".tar"));
    expect(files.sort()).toEqual(
      [...new Set(kept.layers.map(({ digest }) => `${digest.slice(7)}.tar`))].sort(),
    );
    expect(await images.find({ ...recipe, agent: { name: "shell" } })).toEqual(kept);
    await expect(images.sbom("sha256:../../x")).rejects.toMatchObject({ code: "image.not_found" });
  });
});
