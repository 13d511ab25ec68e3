import { once } from "node:events";
import { type Http2ServerResponse, connect, constants, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { isGone, writeContinue, writeHints } from "./outbound-response.ts";

it("says nothing before an answer whose stream is gone, because Node would throw", async () => {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const ask = async (): Promise<Http2ServerResponse> => {
    session.request({ ":method": "POST" }).on("error", () => undefined);
    const [, response] = (await once(server, "request")) as [unknown, Http2ServerResponse];
    return response;
  };
  const open = await ask();
  expect(isGone(open)).toBe(false);
  writeContinue(open);
  expect(open.stream.sentInfoHeaders).toHaveLength(1);
  const gone = await ask();
  gone.stream.close(constants.NGHTTP2_CANCEL);
  expect(isGone(gone)).toBe(true);
  expect(() => gone.writeContinue()).toThrow();
  writeContinue(gone);
  writeHints(gone, 103, ["Link", "</a>; rel=preload"]);
  expect(gone.stream.sentInfoHeaders).toBeUndefined();
  session.destroy();
  await new Promise((resolve) => server.close(resolve));
});
