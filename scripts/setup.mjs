// Everything `npm start` and `npm test` need before they can run: the dependencies and a build.
// Runs on a fresh clone, so it uses node: built-ins only; a second run finds nothing to do.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fail, root, run, step } from "./steps.mjs";

const oldest = [20, 19];
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
  fail(`AgentBox needs Node ${oldest.join(".")} or newer, and this is Node ${process.versions.node}.`);
}

// The lock's digest names the tree that was installed from it; the platform, because prebuilt binaries differ.
const stampFile = join(root, "node_modules", ".agentbox-installed");
const stamp = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .update(`${process.platform} ${process.arch} ${major}`)
  .digest("hex");

if (!existsSync(stampFile) || readFileSync(stampFile, "utf8") !== stamp) {
  await step("Installing dependencies", async () => {
    // Not `npm ci`: it refuses a lock that lacks the optional binaries of other platforms, and a mirror that does
    // not carry them cannot make another. This takes the locked versions and checks their digests just the same.
    // No install scripts: nothing here needs one, and a compromised package would act there first.
    const flags = [
      "--no-save",
      "--ignore-scripts",
      "--include=dev",
      "--no-audit",
      "--no-fund",
      "--no-progress",
    ];
    const result = await run(["npm", "install", ...flags]);
    if (result.code !== 0)
      fail("The dependencies could not be installed; npm's own words are above.", result.output);
    writeFileSync(stampFile, stamp);
  });
}

const { build } = await import("./build.mjs");
await build();
