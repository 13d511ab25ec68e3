import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "agentbox-inherited-"));
  const source = readFileSync(new URL("./inherited-files.ts", import.meta.url), "utf8");
  writeFileSync(join(dir, "inherited-files.mjs"), transformSync(source, { loader: "ts" }).code);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A process that was handed a secret as descriptor 200, as a shell can, starts another one: what does that one read? */
function grandchildReads({ closes }: { closes: boolean }): string {
  const script = `
    import { spawnSync } from "node:child_process";
    import { closeInheritedFiles } from "./inherited-files.mjs";
    ${closes ? "closeInheritedFiles();" : ""}
    process.stdout.write(spawnSync("cat", ["/proc/self/fd/200"], { encoding: "utf8" }).stdout);`;
  writeFileSync(join(dir, "parent.mjs"), script);
  writeFileSync(join(dir, "secret"), "hunter2");
  const command = 'exec "$1" "$2" 200<"$3"';
  const argv = ["-c", command, "sh", process.execPath, join(dir, "parent.mjs"), join(dir, "secret")];
  return spawnSync("/bin/bash", argv, { encoding: "utf8" }).stdout;
}

it("closes what was handed down, which would reach every program that is started later", () => {
  expect(grandchildReads({ closes: false })).toBe("hunter2");
  expect(grandchildReads({ closes: true })).toBe("");
});
