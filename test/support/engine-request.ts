import { request } from "node:http";

/** One request to an engine's socket; the answer's body as text. */
export const engineRequest = (
  socketPath: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const headers = { host: "engine", "content-type": "application/json" };
    const call = request({ socketPath, method, path, headers, timeout: 30_000 }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.once("end", () =>
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      );
      answer.once("error", reject);
    });
    call.once("error", reject).once("timeout", () => call.destroy(new Error(`${path} took too long`)));
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
