import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { routes } from "../contract/api/routes.ts";
import { isAgentBoxError } from "../base/errors.ts";
import { openApiDocument } from "./openapi.ts";
import { matchRoute } from "./router.ts";

describe("the router", () => {
  it("finds every route of the table", () => {
    for (const [name, route] of Object.entries(routes)) {
      const path = route.path
        .replace("{box}", "a-box")
        .replace("{session}", "main")
        .replace("{approval}", "7");
      expect(matchRoute(route.method, path).name).toBe(name);
    }
  });

  it("never lets an encoded slash make a new segment", () => {
    expect(matchRoute("GET", "/v1/boxes/a%2Fexec").params["box"]).toBe("a/exec");
  });

  it("tells a wrong method from a wrong path", () => {
    expect(() => matchRoute("PUT", "/v1/boxes")).toThrow(
      expect.objectContaining({ code: "request.method_not_allowed" }),
    );
    expect(() => matchRoute("GET", "/v2/boxes")).toThrow(
      expect.objectContaining({ code: "request.not_found" }),
    );
    expect(() => matchRoute("GET", "/v1/boxes/%ff")).toThrow(
      expect.objectContaining({ code: "request.not_found" }),
    );
  });

  it("answers any path with a route or a coded error", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (path) => {
        try {
          matchRoute("GET", `/${path}`);
        } catch (error) {
          expect(isAgentBoxError(error)).toBe(true);
        }
      }),
    );
  });
});

describe("the OpenAPI document", () => {
  it("has every route with a summary and an error answer", () => {
    const document = openApiDocument("1.2.3");
    expect(document.openapi).toBe("3.1.0");
    for (const [name, route] of Object.entries(routes)) {
      const operation = document.paths[route.path]?.[route.method.toLowerCase()];
      expect(operation, name).toMatchObject({
        operationId: name,
        summary: route.summary,
        responses: { default: {} },
      });
    }
    // A schema that cannot be expressed would show up empty.
    expect(JSON.stringify(document)).toContain("manifest");
  });
});
