/** The device flow (RFC 8628): a person types a code elsewhere, and the service is asked at its own pace. */
import { initiateDeviceAuthorization, pollDeviceAuthorizationGrant } from "openid-client";
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import { checkAddress } from "./bounded-fetch.ts";
import { type BegunFlow, type FlowContext, maxLifetimeMs } from "./flow.ts";

export async function beginDeviceFlow(context: FlowContext): Promise<BegunFlow> {
  const { plan, provider, settle } = context;
  if (provider.configuration.serverMetadata().device_authorization_endpoint === undefined) {
    throw new AgentBoxError("connection.failed", "The service has no device flow.", {
      hint: "Leave --device out, or give --device-endpoint.",
    });
  }
  const answer = await initiateDeviceAuthorization(
    provider.configuration,
    plan.scopes.length === 0 ? {} : { scope: plan.scopes.join(" ") },
  );
  // SECURITY: a person is sent there, and it may be opened in their browser; so no file:, no javascript:.
  const url = checkAddress(answer.verification_uri_complete ?? answer.verification_uri);
  const ended = new AbortController();
  // The library waits between two questions, longer after slow_down, and ends with expired_token or access_denied.
  void settle(() =>
    pollDeviceAuthorizationGrant(provider.configuration, answer, undefined, { signal: ended.signal }),
  );
  return {
    url: url.href,
    userCode: printable(answer.user_code).slice(0, 64),
    lifetimeMs: Math.min(answer.expires_in * 1_000, maxLifetimeMs),
    close: () => ended.abort(),
  };
}
