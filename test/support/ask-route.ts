/** One request to any route of the table, as any caller, and whether it was refused because of who asks. */
import { request as httpRequest } from "node:http";
import { type RouteName, routeTable } from "../../src/contract/api/routes.ts";

interface Outcome {
  readonly status: number;
  readonly text: string;
  readonly code: string | undefined;
  /** The daemon said no because of who asks. */
  readonly isRefused: boolean;
}

export interface Visitor {
  readonly name: string;
  readonly where: { readonly port: number } | { readonly socketPath: string };
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The refusals of a caller who may only ask: by the route, the table, a directory that is not listed, a request without
 * a yes.
 */
const noes = ["access.forbidden", "workspace.source_invalid", "trust.required"];

/** A refused plan names every problem, and what this host lacks stands before a missing yes. */
function codesOf(text: string, code: string | undefined): readonly string[] {
  if (code === undefined) return [];
  const { error } = JSON.parse(text) as { error?: { problems?: readonly { code: string }[] } };
  return [code, ...(error?.problems ?? []).map((problem) => problem.code)];
}

/** Asks a route as this caller, about this box; what else the path names does not exist. */
export function askRoute(
  { where, headers }: Visitor,
  name: RouteName,
  box: string,
  body: unknown,
): Promise<Outcome> {
  const route = routeTable[name];
  const path = route.path
    .replace("{box}", box)
    .replace("{approval}", "100000")
    .replace(/\{\w+\}/g, "no-such");
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      host: "127.0.0.1",
      ...where,
      method: route.method,
      path,
      headers: { "content-type": "application/json", ...headers },
      agent: false,
    });
    outgoing.on("error", reject);
    outgoing.on("response", (answer) => {
      let text = "";
      answer.on("data", (chunk: Buffer) => (text += chunk.toString()));
      answer.on("end", () => {
        const code = /"error":\{"code":"([a-z_.]+)"/.exec(text)?.[1];
        const isRefused = codesOf(text, code).some((one) => noes.includes(one));
        resolve({ status: answer.statusCode ?? 0, text, code, isRefused });
      });
    });
    outgoing.end(JSON.stringify(body));
  });
}
