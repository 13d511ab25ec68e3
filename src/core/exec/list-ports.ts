import { omitUndefined } from "../../base/omit-undefined.ts";
import type { BoxPort } from "../../contract/api/schemas/files-and-ports.ts";
import type { ServiceSpec } from "../../contract/box.ts";
import type { Using } from "../using.ts";
import { streamEnd } from "../files/stream-end.ts";
import { openStream } from "./run-in-box.ts";

/** SECURITY: what boxd promises, held here as well. */
const maxPorts = 512;

/** The listeners in a box, as the box reports them; the service is the one that the manifest gives this port to. */
export async function listPorts(core: Using<"getBox" | "live">, name: string): Promise<BoxPort[]> {
  const { box, stream } = await openStream(core, name, { kind: "ports.list" });
  const found = new Map<number, BoxPort>();
  await streamEnd(stream, (message) => {
    if (message.type !== "port" || found.size >= maxPorts) return;
    const { port, address, program } = message;
    const service = box.spec.services.find((candidate) => portOf(candidate) === port)?.name;
    found.set(port, {
      port,
      address,
      ...omitUndefined({ program, service }),
    });
  });
  return [...found.values()].sort((a, b) => a.port - b.port);
}

const portOf = ({ ready }: ServiceSpec): number | undefined =>
  ready.kind === "port" ? ready.port : undefined;
