import { rememberSuccess } from "../base/remember-success.ts";
import { type ImageEngine, imageEngine } from "../services/images/index.ts";

/** The engine that images are built in: opened when it is first needed, because its client is large, and once. */
export function lazyImageEngine(): () => Promise<ImageEngine> {
  return rememberSuccess(async () => {
    const { openEngine } = await import("../host/engine/index.ts");
    return imageEngine((await openEngine()).client);
  });
}
