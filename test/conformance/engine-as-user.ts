/** Runs conformance cases at an engine in this process and prints one JSON line per case; run as the engine's user. */
import { execPath } from "node:process";
import { messageOf } from "../../src/base/errors.ts";
import { omitUndefined } from "../../src/base/omit-undefined.ts";
import { createDockerModule } from "../../src/drivers/runtime/engine/docker.ts";
import { parseEngineUrl } from "../../src/host/engine/address.ts";
import { runtimeConformance, withRuntimeContext } from "../../src/ports/runtime.conformance.ts";

const [scratchDir, socket, only = ""] = process.argv.slice(2) as [string, string, string?];
const subject = {
  module: createDockerModule({ address: parseEngineUrl(`unix://${socket}`, "the test") }),
  abilities: ["processes"],
  owner: { uid: process.getuid!(), gid: process.getgid!() },
  node: execPath,
  scratchDir,
};

for (const { name, run } of runtimeConformance.filter((one) => one.name.includes(only))) {
  let error: string | undefined;
  try {
    await withRuntimeContext(subject, run);
  } catch (thrown) {
    error = messageOf(thrown);
  }
  process.stdout.write(`${JSON.stringify({ name, ...omitUndefined({ error }) })}\n`);
}
// The engine's client keeps idle connections open.
process.exit(0);
