import type Docker from "dockerode";
import { describe, expect, it } from "vitest";
import { engineFacts } from "../../../host/engine/facts.ts";
import type { RuntimeBox } from "../../../ports/runtime.ts";
import { containerBody } from "./container-config.ts";
import { createContainer } from "./create-container.ts";

const failure = (statusCode: number, message: string): Error =>
  Object.assign(new Error(message), { statusCode });

/** An engine that answers the first request for a container with this error, and knows none by name. */
const engine = (first: Error, asked: string[]): Docker =>
  ({
    createContainer: async ({ _query: { name } }: { _query: { name: string } }) => {
      asked.push(name);
      if (asked.length === 1) throw first;
      return { id: "made" };
    },
    getContainer: () => ({ inspect: async () => Promise.reject(failure(404, "no such container")) }),
  }) as unknown as Docker;

const box: RuntimeBox = {
  name: "shop",
  owner: { uid: 100_321, gid: 100_321 },
  dirs: { runtime: "/b/s/runtime", link: "/b/s/link", home: "/b/s/home", workspace: "/b/s/workspace" },
  tools: { node: "/n/node", boxd: "/n/boxd" },
  mounts: [],
  resources: { required: [] },
};
const facts = engineFacts({ version: { ApiVersion: "1.41" }, info: {} });
const made = containerBody({
  box,
  image: "i",
  layout: { entries: [], maskedFiles: [] },
  files: [],
  guardedNames: [],
  labels: {},
  facts,
  seccomp: "{}",
});
/** Nothing of this host is mounted, because nothing of it is there. */
const body = { ...made, HostConfig: { ...made.HostConfig, Mounts: [] } };

describe("making a container", () => {
  const installation = { id: "0123456789ab", runtime: "docker" };

  it.each([
    failure(409, "Conflict"),
    failure(
      500,
      'creating container storage: the container name "agentbox-shop" is already in use by 6d12d0. You have to remove it',
    ),
  ])("takes another name where the first one is taken: $message", async (taken) => {
    const asked: string[] = [];
    expect(await createContainer(engine(taken, asked), installation, box, body)).toBe("made");
    expect(asked).toEqual(["agentbox-shop", "agentbox-shop-0123456789ab"]);
  });

  it("does not try again where something else is wrong", async () => {
    const asked: string[] = [];
    const full = engine(failure(500, "no space left"), asked);
    await expect(createContainer(full, installation, box, body)).rejects.toMatchObject({
      code: "box.start_failed",
    });
    expect(asked).toEqual(["agentbox-shop"]);
  });
});
