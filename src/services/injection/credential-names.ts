/** What counts as a credential in the head of a request: every header and parameter that a server could take one from. */
const headers = new Set([
  "authorization",
  "proxy-authorization",
  "x-authorization",
  "authentication",
  "cookie",
  "cookie2",
  "api-key",
  "apikey",
  "x-api-key",
  "x-apikey",
  "x-api-token",
  "x-auth-key",
  "x-auth-token",
  "x-access-token",
  "x-token",
  "private-token",
  "job-token",
  "deploy-token",
  "circle-token",
  "x-github-token",
  "x-gitlab-token",
  "x-figma-token",
  "x-vault-token",
  "x-shopify-access-token",
  "x-jfrog-art-api",
  "x-nuget-apikey",
  "x-goog-api-key",
  "x-goog-iam-authorization-token",
  "x-amz-security-token",
  "x-amz-s3session-token",
  "x-ms-authorization-auxiliary",
  "ocp-apim-subscription-key",
  "dd-api-key",
  "dd-application-key",
]);

/** A browser cannot set headers on a WebSocket, so services take a key from the list of protocols. */
const isProtocolWithKey = (name: string, value: string): boolean =>
  name === "sec-websocket-protocol" && /key|auth|token|bearer|secret/i.test(value);

const parameters = new Set([
  "access-token",
  "api-key",
  "api-token",
  "apikey",
  "auth",
  "auth-key",
  "auth-token",
  "authorization",
  "awsaccesskeyid",
  "client-secret",
  "job-token",
  "key",
  "oauth-token",
  "password",
  "private-token",
  "sig",
  "signature",
  "subscription-key",
  "token",
  "x-amz-credential",
  "x-amz-security-token",
  "x-amz-signature",
  "x-goog-credential",
  "x-goog-signature",
]);

/**
 * What a server may obey in the place of the method or the path that was judged. SECURITY: with one of these a secret
 * that is bound to GET would be used for a DELETE.
 */
const overrides = new Set([
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
  "x-original-url",
  "x-rewrite-url",
]);

/** SECURITY: servers behind a gateway interface cannot tell `x_api_key` from `x-api-key`. */
export const sameName = (name: string): string => name.toLowerCase().replaceAll("_", "-");

/** `name` as `sameName` gives it. */
export const isCredentialHeader = (name: string, value: string): boolean =>
  headers.has(name) || isProtocolWithKey(name, value);

export const isCredentialParameter = (name: string): boolean => parameters.has(name);

export const isOverride = (name: string): boolean => overrides.has(name);
