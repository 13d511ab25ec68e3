/**
 * The fields of a sign-in beside its value. SECURITY: the vault also keeps where its tokens are renewed, and which
 * other secret is sent there as the client's own. A caller who could write both would take that secret out, and through
 * no box.
 */
import type { z } from "zod";
import type { ConnectionSpec } from "../../secret/connection.ts";
import type { AddSecretBody } from "../../api/schemas/vault.ts";
import type { Limit } from "./limit.ts";

const byHand = {
  needs: "socket",
  what: "write the tokens of a sign-in",
  instead: "agentbox connect NAME",
} as const;

export const newTokens: Limit<z.output<typeof AddSecretBody>> = {
  parameter: "kind",
  ...byHand,
  isAsked: ({ kind }) => kind === "oauth",
};

/** Of a secret that holds such tokens. */
export const replacedTokens: Limit<unknown> = { parameter: "value", ...byHand };

export const ownSignIn: readonly Limit<z.output<typeof ConnectionSpec>>[] = [
  {
    parameter: "clientSecret",
    needs: "socket",
    what: "choose which secret a sign-in sends, and where to",
    instead: "agentbox connect NAME --client-secret-from SECRET",
    isAsked: ({ clientSecret, preset, ...spec }) =>
      clientSecret !== undefined &&
      (preset === undefined ||
        [spec.issuer, spec.authorizationEndpoint, spec.tokenEndpoint, spec.deviceEndpoint].some(
          (address) => address !== undefined,
        )),
  },
  {
    parameter: "issuer",
    needs: "trust",
    what: "choose where a sign-in goes, or which secret it sends there",
    instead: "agentbox connect NAME",
    isAsked: ({ secret: _secret, preset, clientId: _clientId, scopes: _scopes, flow: _flow, ...addresses }) =>
      preset === undefined || Object.values(addresses).some((address) => address !== undefined),
  },
];
