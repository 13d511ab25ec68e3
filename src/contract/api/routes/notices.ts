import type { Route } from "../route.ts";

export const noticeRoutes = {
  listReceivers: {
    method: "GET",
    path: "/v1/notices/receivers",
    summary: "Where notices go, without the addresses of webhooks.",
    response: "ListReceiversAnswer",
    unwrap: "receivers",
    scope: "host",
    reach: "member",
    harms: [],
  },
  createReceiver: {
    method: "POST",
    path: "/v1/notices/receivers",
    summary:
      "Send the caller's notices to a webhook, an ntfy topic or a mailbox, too. A trial notice must arrive.",
    body: "CreateReceiverBody",
    response: "CreateReceiverAnswer",
    scope: "host",
    reach: "member",
    harms: ["tell"],
  },
  testReceiver: {
    method: "POST",
    path: "/v1/notices/receivers/test",
    summary: "Send a trial notice.",
    body: "ById",
    scope: "host",
    reach: "member",
    harms: ["tell"],
  },
  removeReceiver: {
    method: "DELETE",
    path: "/v1/notices/receivers",
    summary: "Send nothing there any more.",
    query: "ById",
    scope: "host",
    reach: "member",
    harms: ["tell"],
  },
} as const satisfies Record<string, Route>;
