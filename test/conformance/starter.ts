/** Starts one box and says so; run as a process of its own, to be killed at any moment. */
import bubblewrap from "../../src/drivers/runtime/bubblewrap/index.ts";
import type { RuntimeBox } from "../../src/ports/runtime.ts";

const { boxesDir, box } = JSON.parse(process.argv[2]!) as { boxesDir: string; box: RuntimeBox };
const runtime = await bubblewrap.open({ boxesDir });
process.stdout.write("opened\n");
process.stdout.write(`${JSON.stringify(await runtime.start(box))}\n`);
setInterval(() => undefined, 1000);
