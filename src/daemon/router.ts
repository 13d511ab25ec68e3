import { AgentBoxError } from "../base/errors.ts";
import type { Route } from "../contract/api/route.ts";
import { type RouteName, routeNames, routeTable } from "../contract/api/routes.ts";

export interface Match {
  readonly name: RouteName;
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

const table = routeNames.map((name) => ({
  name,
  route: routeTable[name],
  segments: routeTable[name].path.split("/"),
}));

/** Which route a request means. The path is split before it is decoded, so `%2f` never makes a new segment. */
export function matchRoute(method: string, pathname: string): Match {
  const parts = pathname.split("/");
  let isKnownPath = false;
  for (const { name, route, segments } of table) {
    const params = matchSegments(segments, parts);
    if (!params) continue;
    isKnownPath = true;
    if (route.method === method) return { name, route, params };
  }
  if (isKnownPath) {
    throw new AgentBoxError(
      "request.method_not_allowed",
      `${pathname.slice(0, 200)} does not take ${method.slice(0, 16)}.`,
      {
        hint: "See /openapi.json for what it takes.",
      },
    );
  }
  throw new AgentBoxError("request.not_found", `There is no ${pathname.slice(0, 200)}.`, {
    hint: "See /openapi.json for all routes.",
  });
}

function matchSegments(
  segments: readonly string[],
  parts: readonly string[],
): Record<string, string> | undefined {
  if (segments.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const part = parts[index]!;
    if (!segment.startsWith("{")) {
      if (segment !== part) return undefined;
      continue;
    }
    try {
      params[segment.slice(1, -1)] = decodeURIComponent(part);
    } catch {
      return undefined;
    }
  }
  return params;
}
