import type { IncomingMessage } from "node:http";
import { expect, it } from "vitest";
import { headersToBox } from "./preview-headers.ts";

it("drops what Connection names, and never the length of the body", () => {
  const request = {
    headers: { connection: "close, X-Hop, Content-Length" },
    headersDistinct: { "x-hop": ["1"], "x-kept": ["1"], "content-length": ["4"] },
  } as unknown as IncomingMessage;
  const headers = headersToBox(request, { box: "shop", port: 3000 }, 7420);
  expect(headers).toMatchObject({ "x-kept": "1", "content-length": "4", host: "localhost:3000" });
  expect(headers).not.toHaveProperty("x-hop");
});
