import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { readJson } from "./http.ts";

const sent = (bytes: number, type = "application/json"): IncomingMessage =>
  Object.assign(Readable.from([Buffer.from(JSON.stringify("x".repeat(bytes)))]), {
    headers: { "content-type": type },
  }) as unknown as IncomingMessage;

it("takes little from those who have shown nothing yet, and only as JSON", async () => {
  await expect(readJson(sent(1 << 20))).resolves.toHaveLength(1 << 20);
  await expect(readJson(sent(8 << 10), { isOfStranger: true })).resolves.toHaveLength(8 << 10);
  await expect(readJson(sent(16 << 10), { isOfStranger: true })).rejects.toMatchObject({
    code: "input.too_large",
  });
  await expect(readJson(sent(1, "text/plain"), { isOfStranger: true })).rejects.toMatchObject({
    code: "input.invalid",
  });
});
