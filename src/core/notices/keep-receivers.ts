/** Where notices of a person go: added, listed and removed by the one who gets them. */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { CreateReceiverBody, ReceiverInfo } from "../../contract/api/schemas/notices.ts";
import { isOfHost } from "../../contract/access/principal.ts";
import type { ReceiverRecord } from "../../ports/access-records.ts";
import type { NoticeTarget } from "../../ports/notice-sender.ts";
import { hasAuthority } from "../access/authority.ts";
import { freshId } from "../access/credential.ts";
import { holderOf, isTheirs, notFound, tokenOf } from "../access/keep-tokens.ts";
import type { Visibility } from "../access/visibility.ts";
import { dropAddress, keepAddress, sendTrial } from "./deliver.ts";
import type { NoticeParts, Using } from "../using.ts";

const maxReceivers = 200;
const maxOfOne = 20;

const infoOf = (
  core: Using<"access">,
  { mayBePrivate: _mayBePrivate, madeWith: _madeWith, holder, ...receiver }: ReceiverRecord,
): ReceiverInfo => ({ ...receiver, holder: core.access.holderName(holder) });

export const listReceivers = (core: Using<"access">, access: Visibility): ReceiverInfo[] =>
  core.access.records.state.receivers
    .filter((receiver) => isTheirs(access, receiver))
    .map((receiver) => infoOf(core, receiver));

/** SECURITY: it is there only after a trial notice has arrived, so a mistyped address is not found out by silence. */
export async function createReceiver(
  core: Using<NoticeParts>,
  access: Visibility,
  { kind, address, token, wants }: CreateReceiverBody,
): Promise<ReceiverInfo> {
  const mayBePrivate = hasAuthority(access, "trust");
  const to = kind === "email" ? mailboxOf(core, access, address) : hostOf(kind, address, mayBePrivate);
  requireRoom(core, access);
  const target: NoticeTarget = { kind, address, ...omitUndefined({ token }), mayBePrivate };
  await sendTrial(core, target);
  const receiver: ReceiverRecord = {
    id: freshId(),
    kind,
    to,
    wants,
    mayBePrivate,
    holder: holderOf(access),
    ...omitUndefined({ madeWith: tokenOf(core, access)?.id }),
    createdAtMs: core.ports.clock.nowMs(),
  };
  await keepAddress(core, receiver, target);
  await core.access.change((state) => ({ ...state, receivers: [...state.receivers, receiver] }));
  await core.note("receiver.added", undefined, { receiver: receiver.id, kind, to, wants });
  return infoOf(core, receiver);
}

export const findReceiver = (core: Using<"access">, access: Visibility, id: string): ReceiverRecord => {
  const found = core.access.records.state.receivers.find((one) => one.id === id);
  if (found && isTheirs(access, found)) return found;
  throw notFound("receiver", "agentbox notify ls");
};

export async function removeReceiver(
  core: Using<NoticeParts>,
  access: Visibility,
  id: string,
): Promise<void> {
  const { kind, to } = findReceiver(core, access, id);
  await core.access.change((state) => ({
    ...state,
    receivers: state.receivers.filter((one) => one.id !== id),
  }));
  await dropAddress(core, id);
  await core.note("receiver.removed", undefined, { receiver: id, kind, to });
}

function requireRoom(core: Using<"access">, access: Visibility): void {
  const { receivers } = core.access.records.state;
  const mine = JSON.stringify(holderOf(access));
  const own = receivers.filter(({ holder }) => JSON.stringify(holder) === mine);
  if (receivers.length < maxReceivers && own.length < maxOfOne) return;
  throw new AgentBoxError("input.invalid", `There can be at most ${maxOfOne} receivers of one person.`, {
    hint: "Remove some: agentbox notify ls",
  });
}

/** SECURITY: a member writes to their own mailbox only, or our mail server would be everyone's. */
function mailboxOf(core: Using<"access">, access: Visibility, address: string): string {
  const refuse = (message: string, hint: string): never => {
    throw new AgentBoxError("input.invalid", message, { hint });
  };
  if (!/^[^\s@<>,;:"()[\]\\\p{Cc}]{1,64}@[^\s@<>,;:"()[\]\\\p{Cc}]{1,255}$/u.test(address))
    refuse("That is not an e-mail address.", "Write it as ada@example.org.");
  const holder = holderOf(access);
  if (isOfHost(access.principal) || holder.kind !== "person") return address;
  const person = core.access.records.state.people.find(({ id }) => id === holder.person);
  const isOwn = person?.isEmailVerified === true && person.email?.toLowerCase() === address.toLowerCase();
  return isOwn
    ? address
    : refuse("Your notices can go to your own mailbox only.", "Use the address of your sign-in.");
}

/** The part of an address that is shown: a webhook's path is its password; knowing a topic is enough to read it. */
function hostOf(kind: "slack" | "ntfy", address: string, mayBePrivate: boolean): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const refuse = (message: string): never => {
    throw new AgentBoxError("input.invalid", message, {
      hint:
        kind === "slack"
          ? "Give the whole address of the incoming webhook, such as https://hooks.slack.com/services/…"
          : "Give the address of the topic, such as https://ntfy.sh/my-agents",
    });
  };
  if (url === undefined || !["https:", "http:"].includes(url.protocol))
    return refuse("That is not a web address.");
  if (url.username !== "" || url.password !== "") return refuse("The address holds a user or a password.");
  // SECURITY: who may only ask sends nothing readable, and nothing into the host's networks.
  if (url.protocol === "http:" && !mayBePrivate) return refuse("The address must begin with https.");
  if (kind === "slack") return url.host;
  return /^\/(?:[^/]+\/)*[A-Za-z0-9_-]{1,64}$/.test(url.pathname)
    ? `${url.host}${url.pathname}`
    : refuse("That is not a topic.");
}
