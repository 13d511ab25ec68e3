import { z } from "zod";
import type { Route, SchemaName } from "../contract/api/route.ts";
import { type RouteName, routeNames, routeTable } from "../contract/api/routes.ts";
import { getSchema } from "../contract/api/schemas/get-schema.ts";

const schemaOf = (name: SchemaName, io: "input" | "output") => jsonSchemaOf(getSchema(name), io);

function jsonSchemaOf(schema: z.ZodType, io: "input" | "output") {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}

/** Of a route that says nothing but that it was done. */
const emptyAnswer = jsonSchemaOf(z.object({}), "output");

const mediaTypes = {
  text: "text/plain",
  stream: "application/octet-stream",
  lines: "application/octet-stream",
  websocket: "application/octet-stream",
} as const;

function operation(name: RouteName, route: Route) {
  const pathParams = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, param]) => ({
    name: param,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const query = route.query
    ? (schemaOf(route.query, "input") as { properties?: Record<string, unknown>; required?: string[] })
    : {};
  const queryParams = Object.entries(query.properties ?? {}).map(([param, schema]) => ({
    name: param,
    in: "query",
    required: query.required?.includes(param) ?? false,
    schema,
  }));
  const answer =
    route.media === undefined
      ? { "application/json": { schema: route.response ? schemaOf(route.response, "output") : emptyAnswer } }
      : { [mediaTypes[route.media]]: {} };
  const okStatus = route.media === "websocket" ? "101" : "200";
  return {
    operationId: name,
    summary: route.summary,
    parameters: [...pathParams, ...queryParams],
    ...(route.body
      ? {
          requestBody: {
            required: true,
            content: { "application/json": { schema: schemaOf(route.body, "input") } },
          },
        }
      : {}),
    responses: {
      [okStatus]: { description: route.summary, ...(route.media === "websocket" ? {} : { content: answer }) },
      default: {
        description: "An error with a code, one sentence and a hint.",
        content: { "application/json": { schema: schemaOf("ErrorAnswer", "output") } },
      },
    },
  };
}

/** The API as OpenAPI 3.1, from the same table the router uses. */
export function openApiDocument(version: string) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const name of routeNames) {
    const route = routeTable[name];
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(name, route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "AgentBox",
      version,
      description:
        "The daemon's API: on a unix socket that only its owner can open and, once the dashboard is opened, on a port of loopback that requires a session or an access token.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    paths,
  };
}
