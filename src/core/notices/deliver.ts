/** One notice on its way to one receiver: the address comes from the vault, the mail server from config.toml. */
import { AgentBoxError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { parseUserConfig } from "../../manifest/index.ts";
import type { ReceiverRecord } from "../../ports/access-records.ts";
import type { MailServer, NoticeMessage, NoticeTarget } from "../../ports/notice-sender.ts";
import type { NoticeParts, Using } from "../using.ts";

/** An address may be a credential, so it is kept like one. */
const secretOf = (id: string): string => `notice/${id}`;

export async function keepAddress(
  core: Using<"vault">,
  { id, kind, to }: ReceiverRecord,
  { address, token }: NoticeTarget,
): Promise<void> {
  await core.ports.vault.add({
    name: secretOf(id),
    kind: "text",
    source: { kind: "stored" },
    value: Buffer.from(JSON.stringify({ address, ...omitUndefined({ token }) })),
    note: `Where notices go: ${kind}, ${to}`,
  });
}

export async function dropAddress(core: Using<"vault">, id: string): Promise<void> {
  if (await core.ports.vault.find(secretOf(id))) await core.ports.vault.remove(secretOf(id));
}

/** Receivers also end with the token that made them; their addresses go at the next start. */
export async function dropOrphans(core: Using<"access" | "vault">): Promise<void> {
  const known = new Set(core.access.records.state.receivers.map(({ id }) => secretOf(id)));
  for (const { name } of await core.ports.vault.list())
    if (name.startsWith(secretOf("")) && !known.has(name)) await core.ports.vault.remove(name);
}

export async function deliver(
  core: Using<NoticeParts>,
  { id, kind, mayBePrivate }: ReceiverRecord,
  message: NoticeMessage,
): Promise<void> {
  const { bytes } = await core.ports.vault.reveal(secretOf(id));
  const kept = parseJson(bytes.toString("utf8"));
  const { address, token } = (kept ?? {}) as { readonly address?: string; readonly token?: string };
  if (typeof address !== "string")
    throw new AgentBoxError("notice.refused", "The vault has no address for this receiver.", {
      hint: "Remove it and add it again: agentbox notify ls",
    });
  await send(core, { kind, address, token, mayBePrivate }, message);
}

const trial = (core: Using<"notices">): NoticeMessage => ({
  title: "AgentBox can reach you here",
  body: "Notices about your boxes arrive like this one.",
  isUrgent: false,
  link: core.notices.linkTo("/"),
});

/** Before it is kept. */
export const sendTrial = (core: Using<NoticeParts>, target: NoticeTarget): Promise<void> =>
  send(core, target, trial(core));

export const sendTrialAgain = (core: Using<NoticeParts>, receiver: ReceiverRecord): Promise<void> =>
  deliver(core, receiver, trial(core));

async function send(core: Using<NoticeParts>, target: NoticeTarget, message: NoticeMessage): Promise<void> {
  await core.ports.noticeSender.send(
    target,
    message,
    target.kind === "email" ? await mailServer(core) : undefined,
  );
}

async function mailServer(core: Using<"host" | "vault">): Promise<MailServer> {
  const file = await core.ports.host.readUserConfig();
  const smtp = file && parseUserConfig(file.text, { file: file.file }).config?.notices?.smtp;
  if (!smtp)
    throw new AgentBoxError("notice.refused", "No mail server is set up here.", {
      hint: "Add [notices.smtp] to config.toml; docs/notices.md has an example.",
    });
  if (smtp.password === undefined) return smtp;
  const { bytes } = await core.ports.vault.reveal(smtp.password.slice("vault:".length));
  return { ...smtp, secret: bytes.toString("utf8") };
}
