/**
 * Threats 20 and 37: one box uses what was given to another. Placeholders are a box's own, grants are for one box, and a fork
 * or a later box of the same name starts with neither.
 */
import { expect, it } from "vitest";
import { expectDenied, shell } from "../support/network-ground.ts";
import {
  boxOf,
  grant,
  grantedBox,
  makeCanary,
  mirrorEntry,
  mustCli,
  onVault,
  requestsTo,
  sayNo,
  setSecret,
} from "../support/vault-ground.ts";

const otherEntry = mirrorEntry.replace("vault:token", "vault:second");
const second = makeCanary();

onVault(
  "boxes beside each other",
  (ground) => {
    const placeholderOf = async (box: string): Promise<string> =>
      (await shell(ground.daemon, box, "printf %s $MIRROR_TOKEN")).stdout;
    const ask = (box: string, args = "") =>
      shell(ground.daemon, box, `curl -sS -w '\\n%{http_code}' ${args} https://mirror.test/echo`);
    const sentBy = async (box: string, args?: string): Promise<unknown> => {
      await ground.network.forget();
      expect((await ask(box, args)).stdout).toMatch(/the end\s+200$/);
      return (await requestsTo(ground, "mirror.test"))[0]?.headers["authorization"];
    };
    /** Asked without an answer: the person says no. */
    const expectNotGranted = async (box: string): Promise<void> => {
      await ground.network.forget();
      await using _person = sayNo(ground.daemon, box);
      await expectDenied(ground.daemon, box, { reason: "secret_not_granted", secret: "token" }, () =>
        ask(box),
      );
      expect(await requestsTo(ground, "mirror.test")).toEqual([]);
    };

    it("have placeholders of their own, and one of another box is a foreign credential", async () => {
      const { daemon, canary } = ground;
      const [a, b] = [await placeholderOf("box-a"), await placeholderOf("box-b")];
      expect(a).toMatch(/^agentbox/);
      expect(b).not.toBe(a);
      // The control: in its own box it is taken.
      expect(await sentBy("box-a", `-H 'Authorization: Bearer ${a}'`)).toBe(`Bearer ${canary}`);
      await ground.network.forget();
      await expectDenied(daemon, "box-b", { reason: "foreign_credential" }, () =>
        ask("box-b", `-H 'Authorization: Bearer ${a}'`),
      );
      expect(await requestsTo(ground, "mirror.test")).toEqual([]);
    });

    it("get the secret that is bound in each, at the same place", async () => {
      const { canary } = ground;
      expect(await sentBy("box-a")).toBe(`Bearer ${canary}`);
      expect(await sentBy("box-b")).toBe(`Bearer ${second}`);
    });

    it("share no grant: the same request in another box asks again", async () => {
      const { daemon, canary } = ground;
      await boxOf(daemon, "box-c", mirrorEntry);
      await expectNotGranted("box-c");
      await grant(daemon, "token", "box-c");
      expect(await sentBy("box-c")).toBe(`Bearer ${canary}`);
    });

    it("share neither with a fork", async () => {
      const { daemon, canary } = ground;
      await mustCli(daemon, ["checkpoints", "box-a", "--take"]);
      await mustCli(daemon, ["checkpoints", "box-a", "--fork", "box-fork"]);
      await daemon.client.startBox("box-fork").catch(() => undefined);
      const [own, fork] = [await placeholderOf("box-a"), await placeholderOf("box-fork")];
      expect(fork).toMatch(/^agentbox/);
      expect(fork).not.toBe(own);
      await expectNotGranted("box-fork");
      await expectDenied(daemon, "box-fork", { reason: "foreign_credential" }, () =>
        ask("box-fork", `-H 'Authorization: Bearer ${own}'`),
      );
      await grant(daemon, "token", "box-fork");
      expect(await sentBy("box-fork")).toBe(`Bearer ${canary}`);
    });

    it("leave no grant to the next box of their name", async () => {
      const { daemon } = ground;
      const before = await placeholderOf("box-c");
      await mustCli(daemon, ["rm", "--force", "box-c"]);
      await boxOf(daemon, "box-c", mirrorEntry);
      expect(await placeholderOf("box-c")).not.toBe(before);
      await expectNotGranted("box-c");
    });

    it("get a grant for what they ask, and not for more: another path is another question", async () => {
      const { daemon } = ground;
      await boxOf(daemon, "box-d", `${mirrorEntry}methods = ["GET"]\n`);
      await expectNotGranted("box-d");
      const { grants } = await daemon.json<{ grants: { use: string }[] }>(["vault", "show", "token"]);
      const uses = new Set(grants.map(({ use }) => use));
      expect(uses.size).toBe(1);
      await grant(daemon, "token", "box-d");
      const after = await daemon.json<{ grants: { use: string }[] }>(["vault", "show", "token"]);
      expect(new Set(after.grants.map(({ use }) => use)).size).toBe(2);
    });
  },
  {
    async prepare({ daemon }) {
      await setSecret(daemon, "second", second);
      await grantedBox(daemon, "box-a", mirrorEntry);
      await boxOf(daemon, "box-b", otherEntry);
      await grant(daemon, "second", "box-b");
    },
  },
);
