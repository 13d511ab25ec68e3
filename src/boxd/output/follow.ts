import type { FollowOp } from "../../contract/link/messages.ts";
import type { Connection } from "../connection.ts";
import type { OutputRing } from "./output-ring.ts";
import { RingReader } from "./ring-reader.ts";

/** Streams output from an offset on, until the program has ended. */
export function serveFollow(connection: Connection, op: FollowOp, ring: OutputRing): void {
  const reader = new RingReader(ring, connection, op.offset, {
    missed(offset) {
      connection.send({ type: "offset", offset });
      return true;
    },
    progressed: () => undefined,
    finished: () => connection.end({ type: "end", bytes: ring.total }),
  });
  reader.pump();
}
