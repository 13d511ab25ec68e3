/** The service behind ports/notice-sender.ts: webhooks in Slack's form, ntfy, and mail by SMTP. */
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { NoticeSender } from "../../ports/notice-sender.ts";
import { sendMail } from "./email.ts";
import { openPost } from "./post.ts";

export interface NoticeSenderOptions {
  /** Where everything that leaves this network must go through. */
  readonly upstreamProxy?: string | undefined;
  readonly timeoutMs?: number;
}

const usualTimeoutMs = 15_000;

export function openNoticeSender({
  upstreamProxy,
  timeoutMs = usualTimeoutMs,
}: NoticeSenderOptions): NoticeSender {
  const post = openPost({ proxy: upstreamProxy, timeoutMs });
  return {
    async send({ kind, address, token, mayBePrivate }, message, mailServer) {
      const { title, body, link, isUrgent } = message;
      if (kind === "email") return sendMail(address, message, mailServer, timeoutMs);
      const url = new URL(address);
      if (kind === "slack") return post({ url, mayBePrivate, value: { text: slackText(title, body, link) } });
      const { topic, server } = topicOf(url);
      return post({
        url: server,
        mayBePrivate,
        token,
        value: {
          topic,
          title,
          message: body || title,
          priority: isUrgent ? 4 : 3,
          ...omitUndefined({ click: link }),
        },
      });
    },
  };
}

/** SECURITY: in Slack's markup these three begin a mention or a link, so that a box could call a whole channel. */
const escapeSlack = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function slackText(title: string, body: string, link: string | undefined): string {
  const lines = [`*${escapeSlack(title)}*`, escapeSlack(body), link === undefined ? "" : `<${link}|Open>`];
  return lines.filter((line) => line !== "").join("\n");
}

/** A topic is the last part of its address; as JSON, what is sent needs no header, so no text can become one. */
function topicOf(url: URL): { readonly topic: string; readonly server: URL } {
  const parts = url.pathname.split("/");
  const topic = parts.pop() ?? "";
  return { topic, server: new URL(`${parts.join("/")}/`, url.origin) };
}
