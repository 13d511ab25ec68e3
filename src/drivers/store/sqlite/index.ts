/** The store of one daemon: a single SQLite file that survives `kill -9` and power cuts. */
import type { StoreModule } from "../../../ports/store.ts";
import { openDatabase } from "./database.ts";
import { SqliteStore } from "./sqlite-store.ts";

const sqlite: StoreModule = {
  kind: "store",
  name: "sqlite",
  apiVersion: 1,
  open: async (location) => new SqliteStore(await openDatabase(location), location),
};
export default sqlite;
