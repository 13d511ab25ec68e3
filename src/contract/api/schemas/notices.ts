/** Where a person's notices go. An address may be a credential, so no answer has one. */
import { z } from "zod";
import { noticeKinds, receiverKinds } from "../../notices.ts";
import { ById } from "./access.ts";

const Wants = z.array(z.enum(noticeKinds)).min(1).describe("Which notices: waits, done, failed, budget.");

export const ReceiverInfo = z.object({
  id: ById.shape.id,
  kind: z.enum(receiverKinds),
  to: z.string().describe("The host, topic or mailbox; never the whole address of a webhook."),
  wants: Wants,
  holder: z.string().describe("Whose notices it gets."),
  createdAtMs: z.int(),
});
export type ReceiverInfo = z.infer<typeof ReceiverInfo>;

export const ListReceiversAnswer = z.object({ receivers: z.array(ReceiverInfo) });

export const CreateReceiverBody = z.strictObject({
  kind: z.enum(receiverKinds),
  address: z
    .string()
    .min(3)
    .max(2_048)
    .describe("Address of the webhook, of the ntfy topic, or of the mailbox."),
  token: z.string().min(1).max(1_024).optional().describe("Access token of an ntfy server."),
  wants: Wants.default([...noticeKinds]),
});
export type CreateReceiverBody = z.infer<typeof CreateReceiverBody>;

export const CreateReceiverAnswer = z.object({ receiver: ReceiverInfo });
