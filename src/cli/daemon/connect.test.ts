import { describe, expect, it } from "vitest";
import { AgentBoxError } from "../../base/errors.ts";
import { version } from "../../base/version.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { type Transport, createClient } from "../../client/index.ts";
import { startingTransport } from "./connect.ts";

const gone = (code: string) =>
  new AgentBoxError("daemon.unreachable", "nobody answers", {
    cause: Object.assign(new Error(code), { code }),
  });

/** A daemon that is there only after it was started. */
function absentDaemon(code = "ENOENT") {
  const state = { isRunning: false, starts: 0, calls: [] as string[] };
  const transport: Transport = {
    async call({ path }) {
      state.calls.push(path);
      if (!state.isRunning) throw gone(code);
      return {
        status: 200,
        version: "9.9.9",
        text: async () => '{"boxes":[]}',
        chunks: async function* () {},
      };
    },
    stream: () => Promise.reject(gone(code)),
  };
  const start = async () => {
    state.starts++;
    state.isRunning = true;
  };
  return { state, transport, start };
}

describe("startingTransport", () => {
  it("starts the daemon when the first call finds none, and asks again", async () => {
    const { state, transport, start } = absentDaemon();
    const seen: (string | undefined)[] = [];
    const client = createClient(startingTransport(transport, start, (each) => seen.push(each)));
    expect(await client.listBoxes()).toEqual([]);
    await client.listBoxes();
    expect(state).toMatchObject({ starts: 1, calls: ["/v1/boxes", "/v1/boxes", "/v1/boxes"] });
    expect(seen).toEqual(["9.9.9", "9.9.9"]);
  });

  it("does not repeat a call that may have arrived", async () => {
    const { state, transport, start } = absentDaemon("ECONNRESET");
    const client = createClient(startingTransport(transport, start));
    await expect(client.listBoxes()).rejects.toMatchObject({ code: "daemon.unreachable" });
    expect(state).toMatchObject({ starts: 0, calls: ["/v1/boxes"] });
  });
});

it("is the version of the package", () => {
  expect(version).toBe(packageJson.version);
});
