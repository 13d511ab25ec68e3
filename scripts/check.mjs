// `npm run check`: everything that can be known without running the program. All steps run, then one verdict.
import { join } from "node:path";
import { root, run } from "./steps.mjs";

const bin = (name) => join(root, "node_modules", ".bin", name);
const steps = [
  { name: "types", argv: [bin("tsc"), "--noEmit"] },
  { name: "types of the page", argv: [bin("tsc"), "-p", join(root, "web")] },
  { name: "types of the browser's tests", argv: [bin("tsc"), "-p", join(root, "test/web")] },
  { name: "lint", argv: [bin("oxlint"), "--type-aware", "--deny-warnings"] },
  { name: "format", argv: [bin("biome"), "format", "."] },
  { name: "dead code", argv: [bin("knip")] },
  { name: "generated files", argv: [process.execPath, join(root, "scripts/generate.mjs"), "--check"] },
];

/** Two at a time: each uses more than one core for part of its life, and small machines have two. */
async function runSteps(limit) {
  const waiting = [...steps];
  const failures = [];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { code, output, ms } = await run(next.argv);
      console.log(`${code === 0 ? "ok    " : "FAILED"} ${next.name} (${(ms / 1000).toFixed(1)} s)`);
      if (code !== 0) failures.push({ name: next.name, output });
    }
  };
  await Promise.all(Array.from({ length: limit }, worker));
  return failures;
}

const failures = await runSteps(2);
for (const { name, output } of failures) console.log(`\n── ${name} ──\n${output.trimEnd()}`);
if (failures.length > 0) console.log(`\n${failures.length} of ${steps.length} checks failed.`);
process.exitCode = failures.length > 0 ? 1 : 0;
