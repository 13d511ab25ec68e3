import type { Box } from "../../contract/box.ts";

type Values = Readonly<Record<string, string>>;
const namesOf = (values: Values): Record<string, string> =>
  Object.fromEntries(Object.keys(values).map((name) => [name, ""]));

/**
 * A box for a viewer who may only look. SECURITY: passwords are given as variables; only people who work in the box
 * have those.
 */
export function hideValues(box: Box): Box {
  const { main } = box;
  // The maker's name and address are for those who work with them.
  const { person: _person, ...spec } = box.spec;
  return {
    ...box,
    spec: {
      ...spec,
      env: namesOf(spec.env),
      ...(spec.envScript === undefined ? {} : { envScript: { ...spec.envScript, text: "" } }),
      services: spec.services.map((service) => ({ ...service, env: namesOf(service.env) })),
      mcp: spec.mcp.map((server) =>
        server.transport === "stdio"
          ? { ...server, env: namesOf(server.env) }
          : { ...server, headers: namesOf(server.headers) },
      ),
    },
    ...(main === undefined ? {} : { main: { ...main, env: namesOf(main.env) } }),
  };
}
