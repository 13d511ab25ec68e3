/** A model server that does what vendors do: it fetches what a request names by address before it answers. */
import { once } from "node:events";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Fields that some service takes an address in. */
const addressFields = new Set(
  "url image_url file_url video_url audio_url file_data data fileUri file_uri server_url $ref".split(" "),
);

function addressesIn(value: unknown, field = ""): string[] {
  if (typeof value === "string") return addressFields.has(field) && value.startsWith("http") ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  const inList = Array.isArray(value);
  return Object.entries(value).flatMap(([name, one]) => addressesIn(one, inList ? field : name));
}

export interface FetchingModel extends AsyncDisposable {
  readonly url: string;
  /** Where the attacker listens. */
  readonly away: string;
  /** The requests that have arrived there. */
  readonly arrived: string[];
  /** Requests that have come to the model. */
  readonly asked: string[];
}

export async function startFetchingModel(): Promise<FetchingModel> {
  const arrived: string[] = [];
  const asked: string[] = [];
  const attacker = createServer((request, response) => {
    arrived.push(request.url ?? "");
    response.end();
  });
  const model = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.once("end", () => {
      const body = Buffer.concat(chunks).toString();
      asked.push(request.url ?? "");
      const fetched = addressesIn(JSON.parse(body || "{}")).map((address) => fetch(address));
      void Promise.allSettled(fetched).then(() => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end('{"answer":"seen"}');
      });
    });
  });
  const away = await listen(attacker);
  const url = await listen(model);
  return {
    url,
    away,
    arrived,
    asked,
    async [Symbol.asyncDispose]() {
      await Promise.all([close(attacker), close(model)]);
    },
  };
}

async function listen(server: Server): Promise<string> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
