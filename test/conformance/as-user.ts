/** Runs conformance cases in this process and prints one JSON line per case; bundled and run as another user. */
import { execPath } from "node:process";
import { messageOf } from "../../src/base/errors.ts";
import { omitUndefined } from "../../src/base/omit-undefined.ts";
import { createBubblewrapModule } from "../../src/drivers/runtime/bubblewrap/index.ts";
import { runtimeConformance, withRuntimeContext } from "../../src/ports/runtime.conformance.ts";

const subject = {
  module: createBubblewrapModule(),
  abilities: ["processes"],
  owner: { uid: process.getuid!(), gid: process.getgid!() },
  node: execPath,
  scratchDir: process.argv[2]!,
};

for (const { name, run } of runtimeConformance) {
  let error: string | undefined;
  try {
    await withRuntimeContext(subject, run);
  } catch (thrown) {
    error = messageOf(thrown);
  }
  process.stdout.write(`${JSON.stringify({ name, ...omitUndefined({ error }) })}\n`);
}
