/**
 * One mail by the server of config.toml. SECURITY: encrypted unless that server is on this machine, plain text only, and
 * never with a file or an address fetched for it.
 */
import { AgentBoxError, systemCode } from "../../base/errors.ts";
import { readServerTrust } from "../../host/server-trust.ts";
import type { MailServer, NoticeMessage } from "../../ports/notice-sender.ts";

export async function sendMail(
  to: string,
  { title, body, link }: NoticeMessage,
  server: MailServer | undefined,
  timeoutMs: number,
): Promise<void> {
  if (!server) throw new AgentBoxError("notice.refused", "No mail server is set up here.");
  const { host, tls = "starttls", port = tls === "from-start" ? 465 : 587, from, user, secret } = server;
  const { createTransport } = await import("nodemailer");
  const transport = createTransport({
    host,
    port,
    secure: tls === "from-start",
    requireTLS: tls === "starttls",
    ignoreTLS: tls === "none",
    tls: { secureContext: await readServerTrust([]) },
    ...(user === undefined ? {} : { auth: { user, pass: secret ?? "" } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    await transport.sendMail({
      from,
      // As an object, so that no text is read as a list of addresses.
      to: { name: "", address: to },
      subject: `[AgentBox] ${title}`,
      text: [body, link ?? ""].filter((part) => part !== "").join("\n\n"),
    });
  } catch (error) {
    throw new AgentBoxError(
      isFinal(error) ? "notice.refused" : "notice.undeliverable",
      `The mail server ${host} did not take the mail: ${whyOf(error)}.`,
      {
        hint: "Check [notices.smtp] in config.toml.",
      },
    );
  } finally {
    transport.close();
  }
}

/** A server that says 5xx says it for good; so does one that wants another password. */
const isFinal = (error: unknown): boolean => {
  const { responseCode, code } = error as { readonly responseCode?: number; readonly code?: string };
  return code === "EAUTH" || (responseCode !== undefined && responseCode >= 500);
};

/** Codes only: a server's own words may quote what was sent to it. */
function whyOf(error: unknown): string {
  const { responseCode } = error as { readonly responseCode?: number };
  return responseCode === undefined
    ? (systemCode(error) ?? "it cannot be reached")
    : `it answered ${responseCode}`;
}
