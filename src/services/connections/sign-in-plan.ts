/** The plan of a sign-in: preset and request combined, and refused where a part is missing or contradicts. */
import { AgentBoxError } from "../../base/errors.ts";
import { suggest } from "../../base/suggest.ts";
import type { ConnectionPreset, ConnectionSpec } from "../../contract/secret/connection.ts";
import { presets } from "./presets/index.ts";

export interface Endpoints {
  readonly authorization?: string | undefined;
  readonly token: string;
  readonly device?: string | undefined;
}

export interface SignInPlan {
  readonly secret: string;
  readonly flow: "code" | "device";
  /** Absent where only endpoints are known. */
  readonly issuer: string | undefined;
  /** Absent where the issuer is asked for them. */
  readonly endpoints: Endpoints | undefined;
  readonly clientId: string;
  /** The name of a secret. */
  readonly clientSecret: string | undefined;
  readonly scopes: readonly string[];
  readonly parameters: Readonly<Record<string, string>>;
  readonly redirectPort: number | undefined;
}

/** SECURITY: what protects the sign-in is ours to say; a parameter of the same name would switch it off. */
const reserved = new Set([
  "client_id",
  "client_secret",
  "redirect_uri",
  "response_type",
  "response_mode",
  "scope",
  "state",
  "nonce",
  "code_challenge",
  "code_challenge_method",
  "request",
  "request_uri",
]);

export function planSignIn(spec: ConnectionSpec): SignInPlan {
  const preset = spec.preset === undefined ? undefined : findPreset(spec.preset);
  const parameters = { ...preset?.parameters, ...spec.parameters };
  const taken = Object.keys(parameters).find((name) => reserved.has(name.toLowerCase()));
  if (taken !== undefined) {
    throw new AgentBoxError("input.invalid", `The parameter "${taken}" is not for the asker to set.`, {
      hint: "Leave it out; it is set for every sign-in.",
    });
  }
  if (spec.clientId === undefined || spec.clientId === "") {
    throw new AgentBoxError("input.invalid", "The sign-in needs the id of a client.", {
      hint: preset?.registration ?? "Register an application with the service, and give --client-id.",
    });
  }
  return {
    secret: spec.secret,
    flow: spec.flow,
    issuer: spec.issuer ?? preset?.issuer,
    endpoints: endpointsOf(spec, preset),
    clientId: spec.clientId,
    clientSecret: spec.clientSecret,
    scopes: spec.scopes ?? preset?.scopes ?? [],
    parameters,
    redirectPort: spec.redirectPort ?? preset?.redirectPort,
  };
}

function findPreset(name: string): ConnectionPreset {
  const preset = presets.find((known) => known.name === name);
  if (preset !== undefined) return preset;
  const names = presets.map((known) => known.name);
  const near = suggest(name, names);
  throw new AgentBoxError("input.invalid", `There is no service "${name}" whose sign-in is known.`, {
    hint: near === undefined ? `Known are: ${names.join(", ")}.` : `Did you mean "${near}"?`,
  });
}

function endpointsOf(spec: ConnectionSpec, preset: ConnectionPreset | undefined): Endpoints | undefined {
  const isExplicit =
    spec.authorizationEndpoint !== undefined ||
    spec.tokenEndpoint !== undefined ||
    spec.deviceEndpoint !== undefined;
  if (!isExplicit && spec.issuer !== undefined) return undefined;
  const authorization = spec.authorizationEndpoint ?? preset?.authorizationEndpoint;
  const token = spec.tokenEndpoint ?? preset?.tokenEndpoint;
  const device = spec.deviceEndpoint ?? preset?.deviceEndpoint;
  const begins = spec.flow === "device" ? device : authorization;
  if (token === undefined || begins === undefined) {
    throw new AgentBoxError("input.invalid", "The addresses of the sign-in and of its tokens are missing.", {
      hint:
        spec.flow === "device"
          ? "Give --preset, --issuer, or --device-endpoint and --token-endpoint of a service with a device flow."
          : "Give --preset, --issuer, or --authorization-endpoint and --token-endpoint.",
    });
  }
  return { authorization, token, device };
}
