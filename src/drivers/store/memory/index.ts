/** A store that forgets everything when it is closed; otherwise it behaves like every other store. */
import type { StoreModule } from "../../../ports/store.ts";
import { MemoryStore } from "./memory-store.ts";

const memory: StoreModule = {
  kind: "store",
  name: "memory",
  apiVersion: 1,
  open: async () => new MemoryStore(),
};
export default memory;
