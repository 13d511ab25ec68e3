import { type ImageEngine, imageEngine } from "../services/images/index.ts";

/** The engine that images are built in: opened when it is first needed, because its client is large, and once. */
export function lazyImageEngine(): () => Promise<ImageEngine> {
  let opening: Promise<ImageEngine> | undefined;
  const open = async (): Promise<ImageEngine> => {
    const { openEngine } = await import("../host/engine/index.ts");
    return imageEngine((await openEngine()).client);
  };
  return () => {
    opening ??= open().catch((error: unknown) => {
      // It may be started meanwhile.
      opening = undefined;
      throw error;
    });
    return opening;
  };
}
