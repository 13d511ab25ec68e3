import { describe, expect, expectTypeOf, it } from "vitest";
import type { Route, RouteTable } from "./route.ts";
import { type RouteBody, type RouteResponse, routeNames, routeTable } from "./routes.ts";
import { getSchema } from "./schemas/get-schema.ts";

const whole = {
  method: "POST",
  path: "/v1/x",
  summary: "An example.",
  body: "PruneBody",
  response: "ListBoxesAnswer",
  unwrap: "boxes",
  scope: "read",
  reach: "host",
  harms: ["see"],
} as const satisfies Route;

describe("the table of routes", () => {
  it("names each method and path once", () => {
    const addresses = routeNames.map((name) => `${routeTable[name].method} ${routeTable[name].path}`);
    expect(new Set(addresses).size).toBe(routeNames.length);
    expect(routeNames.length).toBeGreaterThan(100);
  });

  it("names schemas that exist, and types follow from them", () => {
    for (const name of routeNames) {
      const { query, body, response, opens } = routeTable[name];
      for (const schema of [query, body, response, opens])
        if (schema !== undefined) expect(getSchema(schema), `${name}: ${schema}`).toBeDefined();
    }
    expectTypeOf<RouteBody<"moveBox">>().toEqualTypeOf<{ runtime: string }>();
    expectTypeOf<RouteResponse<"learnPolicy">>().toEqualTypeOf<{ toml: string }>();
  });

  // The compiler proves these: `npm run check` fails when one of them would compile.
  it("takes no route without access, and none that names a schema, a field or a limit that does not fit", () => {
    const { scope: _scope, ...withoutScope } = whole;
    const { reach: _reach, ...withoutReach } = whole;
    const { harms: _harms, ...withoutHarms } = whole;
    const limit = { parameter: "x", needs: "trust", what: "x", instead: "x" } as const;
    const judgesText = { ...limit, isAsked: (body: { runtime: string }) => body.runtime !== "" };
    const tables = [
      whole satisfies Route,
      // @ts-expect-error: no scope
      withoutScope satisfies Route,
      // @ts-expect-error: no reach
      withoutReach satisfies Route,
      // @ts-expect-error: not said what a thief could do with it
      withoutHarms satisfies Route,
      // @ts-expect-error: there is no such schema
      { ...whole, body: "NoSchema" } satisfies Route,
    ];
    const fitting: RouteTable<{ x: typeof whole }> | undefined = undefined;
    type Unfitting = { path: string; response: "ListBoxesAnswer"; unwrap: "box" };
    // @ts-expect-error: the answer has no such field
    const noField: RouteTable<{ x: Unfitting }> | undefined = undefined;
    type Misjudged = { path: string; body: "PruneBody"; limits: [typeof judgesText] };
    // @ts-expect-error: the limit looks at a body that the route does not have
    const noBody: RouteTable<{ x: Misjudged }> | undefined = undefined;
    expect([tables.length, fitting, noField, noBody]).toEqual([5, undefined, undefined, undefined]);
  });
});
