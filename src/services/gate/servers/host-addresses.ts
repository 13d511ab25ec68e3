/** The addresses that are the host itself, which no box may reach whatever their range. */
import { networkInterfaces } from "node:os";
import type { Clock } from "../../../base/clock.ts";

const keepMs = 5_000;

/** Read again every few seconds, because interfaces come and go with cables and VPNs. */
export function watchHostAddresses(clock: Clock): () => readonly string[] {
  let addresses: readonly string[] = [];
  let readAtMs = -Infinity;
  return () => {
    const now = clock.monotonicMs();
    if (now - readAtMs >= keepMs) {
      readAtMs = now;
      addresses = Object.values(networkInterfaces()).flatMap((each) =>
        (each ?? []).map((one) => one.address),
      );
    }
    return addresses;
  };
}
