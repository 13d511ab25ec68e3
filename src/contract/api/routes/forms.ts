import { unlistedDirectory } from "../../access/limits/requests.ts";
import type { Route } from "../route.ts";

export const formRoutes = {
  getManifestSchema: {
    method: "GET",
    path: "/v1/manifest/schema",
    summary: "JSON Schema of the manifest, and the names that this host knows for some of its keys.",
    response: "GetManifestSchemaAnswer",
    scope: "read",
    reach: "member",
    harms: ["see"],
  },
  checkManifest: {
    method: "POST",
    path: "/v1/manifest/check",
    summary: "The plan of a box like this, with everything that would refuse it. Nothing is made.",
    body: "CheckManifestBody",
    response: "ManifestCheck",
    // It reads what a box would be made from, so it takes what making one takes.
    scope: "work",
    reach: "member",
    harms: ["make"],
    limits: [unlistedDirectory],
  },
  listProjects: {
    method: "GET",
    path: "/v1/projects",
    summary: "Directories that boxes were made from, or that were trusted.",
    response: "ListProjectsAnswer",
    unwrap: "projects",
    scope: "read",
    reach: "member",
    harms: ["see"],
  },
  listTemplates: {
    method: "GET",
    path: "/v1/templates",
    summary: "Partial manifests that the owner of the host keeps under names.",
    response: "ListTemplatesAnswer",
    unwrap: "templates",
    // They are the owner's own words, with what the owner gives to boxes.
    scope: "read",
    reach: "host",
    harms: ["see"],
  },
  saveTemplate: {
    method: "POST",
    path: "/v1/templates",
    summary: "Keep settings of boxes under a new name: only what stays inside of a box.",
    body: "SaveTemplateBody",
    // Used later, it is the owner's order.
    scope: "trust",
    reach: "host",
    harms: ["trust"],
  },
} as const satisfies Record<string, Route>;
