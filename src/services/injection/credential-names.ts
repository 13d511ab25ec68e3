/** The credentials in the head of a request: every header and parameter that a server could take one from. */
const headers = new Set([
  "authentication",
  "cookie",
  "cookie2",
  "jwt",
  "x-auth",
  "x-forwarded-user",
  "x-jfrog-art-api",
  "x-jwt-assertion",
  "x-ms-authorization-auxiliary",
  "x-remote-user",
]);

/** SECURITY: vendors make names of their own in these families, and a list of them is never whole. */
const headerFamilies =
  /(?:^|-)(?:authorization|credentials?|password|passwd|secret|token|(?:access|account|admin|api|app|application|auth|master|private|secret|subscription)-?key|(?:access|api|auth|private|session)token)$/;

/** Tokens that sign no one in: they guard a form, name a page, or make a request the same one. */
const harmlessTokens = /(?:^|-)(?:csrf|xsrf|client|continuation|next|page|sync)-?token$/;

/** A browser cannot set headers on a WebSocket, so services take a key from the list of protocols. */
const isProtocolWithKey = (name: string, value: string): boolean =>
  name === "sec-websocket-protocol" && /key|auth|token|bearer|secret/i.test(value);

/** Without what stands between the words, which every service writes in another way. */
const parameters = new Set([
  "assertion",
  "auth",
  "authorization",
  "awsaccesskeyid",
  "clientassertion",
  "credential",
  "idtoken",
  "jwt",
  "key",
  "passwd",
  "password",
  "sig",
  "signature",
  "token",
  "xamzcredential",
  "xamzsignature",
  "xgoogcredential",
  "xgoogsignature",
]);
const parameterFamilies =
  /(?:(?:access|api|auth|bearer|deploy|feed|job|oauth|private|refresh|rss|security|session|user)token|(?:access|api|auth|secret|subscription)key|secret)$/;

/** SECURITY: servers behind a gateway interface cannot tell `x_api_key` and `x.api.key` from `x-api-key`. */
export const sameName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "-");

/** SECURITY: `accessToken`, `access_token`, ` access.token` and `access_token[]` are one and the same to some server. */
export const sameParameter = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[[\0].*$/s, "")
    .replaceAll(/[\s._-]/g, "");

/** `name` as `sameName` gives it. */
export const isCredentialHeader = (name: string, value: string): boolean =>
  headers.has(name) ||
  (headerFamilies.test(name) && !harmlessTokens.test(name)) ||
  isProtocolWithKey(name, value);

/** `name` as `sameParameter` gives it. */
export const isCredentialParameter = (name: string): boolean =>
  parameters.has(name) || parameterFamilies.test(name);
