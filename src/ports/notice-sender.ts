/**
 * Delivers one notice to one receiver, once: no redirect is followed, and what cannot be delivered fails with
 * `notice.undeliverable`. The message of that error names no address and quotes nothing that the receiver has said.
 */
import type { SmtpSection } from "../manifest/sections/notices-section.ts";
import type { ReceiverKind } from "../contract/notices.ts";

/** The address of one receiver. Must not be logged: it may be a credential. */
export interface NoticeTarget {
  readonly kind: ReceiverKind;
  readonly address: string;
  /** Access token of an ntfy server. */
  readonly token?: string | undefined;
  /** SECURITY: whether the address may lead into the host's own networks. */
  readonly mayBePrivate: boolean;
}

export interface NoticeMessage {
  readonly title: string;
  readonly body: string;
  readonly isUrgent: boolean;
  /** Absent while the dashboard is not open. */
  readonly link?: string | undefined;
}

/** The server that mail goes out by, with its password. */
export interface MailServer extends SmtpSection {
  readonly secret?: string | undefined;
}

export interface NoticeSender {
  send(target: NoticeTarget, message: NoticeMessage, mailServer?: MailServer): Promise<void>;
}
