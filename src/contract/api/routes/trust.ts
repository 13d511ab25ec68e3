import type { Route } from "../route.ts";

export const trustRoutes = {
  askTrust: {
    method: "POST",
    path: "/v1/trust/ask",
    summary: "What a manifest asks for outside the workspace, and whether a person has agreed.",
    body: "AskTrustBody",
    response: "TrustQuestion",
    // A yes to what a manifest asks is the owner's own word. Asking reads any directory of the host.
    scope: "trust",
    reach: "host",
    harms: ["trust"],
  },
  grantTrust: {
    method: "POST",
    path: "/v1/trust",
    summary: "Agree to exactly what the digest names.",
    body: "GrantTrustBody",
    response: "TrustEntry",
    scope: "trust",
    reach: "host",
    harms: ["trust"],
  },
  allowToolchains: {
    method: "POST",
    path: "/v1/trust/toolchains",
    summary: "Agree to show toolchains of the host to boxes, read-only, by digest.",
    body: "AllowToolchainsBody",
    response: "ListTrustAnswer",
    scope: "trust",
    reach: "host",
    harms: ["trust"],
  },
  listTrust: {
    method: "GET",
    path: "/v1/trust",
    summary: "What has been agreed to.",
    response: "ListTrustAnswer",
    unwrap: "entries",
    scope: "read",
    reach: "host",
    harms: ["see"],
  },
  revokeTrust: {
    method: "DELETE",
    path: "/v1/trust",
    summary: "Take an agreement back.",
    query: "RevokeTrustQuery",
    scope: "approve",
    reach: "host",
    harms: ["narrow"],
  },
} as const satisfies Record<string, Route>;
