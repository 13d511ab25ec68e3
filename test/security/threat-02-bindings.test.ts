/**
 * Threat 2: what a secret is bound to is lost when something starts again. The same requests are refused and the same are
 * let through after a kill -9 of the daemon, a restart of the box, and a pause.
 */
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { expectDenied, shell } from "../support/network-ground.ts";
import {
  boxOf,
  entry,
  grant,
  mustCli,
  onVault,
  requestsTo,
  sayNo,
  type VaultGround,
} from "../support/vault-ground.ts";

const [box, stranger] = ["bound", "not-agreed"] as const;
const manifest = `[network]\nallow = ["mirror.test"]\n${entry("mirror", "mirror.test", 'how = "bearer"\nenv = "MIRROR_TOKEN"\npaths = ["/echo"]')}`;
const passphrase = "a passphrase of the test";

const isBack = ({ daemon }: VaultGround): Promise<unknown> =>
  waitFor("the boxes are back", async () => {
    const boxes = await Promise.all([box, stranger].map((name) => daemon.client.getBox(name)));
    return boxes.every(({ isConnected }) => isConnected);
  });

/** Conditions that hold whenever the vault is open. */
async function expectSameBinding(ground: VaultGround, placeholder: string): Promise<void> {
  const { daemon, network, canary } = ground;
  await network.forget();
  const curl = (args: string, name: string = box) => shell(daemon, name, `curl -sS -m 20 ${args}`);
  expect((await shell(daemon, box, "printf %s $MIRROR_TOKEN")).stdout).toBe(placeholder);
  expect((await curl("https://mirror.test/echo")).stdout).toMatch(/\*{20,}[\s\S]*the end/);
  expect((await curl("https://mirror.test/error")).stdout).toContain("the end");
  const sent = await requestsTo(ground, "mirror.test");
  expect(sent.map(({ headers }) => headers["authorization"])).toEqual([`Bearer ${canary}`, undefined]);
  await network.forget();
  const refused = (reason: string, args: string) => expectDenied(daemon, box, { reason }, () => curl(args));
  await refused("foreign_credential", "-H 'Authorization: Bearer other' https://mirror.test/echo");
  await refused("foreign_credential", "-b session=other https://mirror.test/error");
  await refused("secret_misplaced", '-d "$MIRROR_TOKEN" https://mirror.test/echo');
  await using _person = sayNo(daemon, stranger);
  await expectDenied(daemon, stranger, { reason: "secret_not_granted" }, () =>
    curl("https://mirror.test/echo", stranger),
  );
  expect(await requestsTo(ground, "mirror.test")).toEqual([]);
}

onVault(
  "a binding",
  (ground) => {
    let placeholder = "";

    it("holds at first", async () => {
      placeholder = (await shell(ground.daemon, box, "printf %s $MIRROR_TOKEN")).stdout;
      expect(placeholder).toMatch(/^agentbox/);
      await expectSameBinding(ground, placeholder);
    });

    it("holds after a kill -9 of the daemon", async () => {
      await ground.daemon.kill();
      await ground.daemon.start();
      await isBack(ground);
      await expectSameBinding(ground, placeholder);
    });

    it("holds after the box was restarted, and paused", async () => {
      await mustCli(ground.daemon, ["restart", box]);
      await mustCli(ground.daemon, ["pause", box]);
      await mustCli(ground.daemon, ["resume", box]);
      await isBack(ground);
      await expectSameBinding(ground, placeholder);
    });

    it("gives nothing after a restart while the vault is locked, and everything once it is open", async () => {
      const { daemon } = ground;
      await mustCli(daemon, ["vault", "rekey", "--to", "passphrase"], { stdin: passphrase });
      await daemon.kill();
      await daemon.start();
      await isBack(ground);
      expect((await daemon.client.getVault()).isLocked).toBe(true);
      await ground.network.forget();
      await expectDenied(daemon, box, { reason: "secret_unavailable", secret: "token" }, () =>
        shell(daemon, box, "curl -sS https://mirror.test/echo"),
      );
      await expectDenied(daemon, box, { reason: "foreign_credential" }, () =>
        shell(daemon, box, "curl -sS -u me:other https://mirror.test/echo"),
      );
      expect(await requestsTo(ground, "mirror.test")).toEqual([]);
      await mustCli(daemon, ["vault", "unlock"], { stdin: passphrase });
      await expectSameBinding(ground, placeholder);
    });
  },
  {
    async prepare({ daemon }) {
      await boxOf(daemon, box, manifest);
      await grant(daemon, "token", box);
      await boxOf(daemon, stranger, manifest);
    },
  },
);
