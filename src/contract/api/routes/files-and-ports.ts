import { agreedPreview } from "../../access/limits/requests.ts";
import type { Route } from "../route.ts";

export const fileAndPortRoutes = {
  listFiles: {
    method: "GET",
    path: "/v1/boxes/{box}/tree",
    summary: "What one directory of the workspace holds.",
    query: "ListFilesQuery",
    response: "ListFilesAnswer",
    // Of the workspace only: a look shows neither the home nor the secrets that a box holds.
    scope: "read",
    reach: "look",
    harms: ["see"],
  },
  readFile: {
    method: "GET",
    path: "/v1/boxes/{box}/file",
    summary: "The bytes of one file of the workspace, or a part of them.",
    query: "ReadFileQuery",
    media: "stream",
    scope: "read",
    reach: "look",
    harms: ["see"],
  },
  writeFile: {
    method: "POST",
    path: "/v1/boxes/{box}/file",
    summary: "Put one file into the workspace.",
    body: "WriteFileBody",
    scope: "work",
    reach: "work",
    harms: ["use"],
  },
  listPorts: {
    method: "GET",
    path: "/v1/boxes/{box}/ports",
    summary: "TCP ports that programs of a running box listen on.",
    response: "ListPortsAnswer",
    unwrap: "ports",
    scope: "read",
    reach: "look",
    harms: ["see"],
  },
  openPreview: {
    method: "POST",
    path: "/v1/boxes/{box}/preview",
    summary: "An address, good for one browser, at which a port of the box is seen.",
    body: "OpenPreviewBody",
    response: "OpenPreviewAnswer",
    // Who sees a program of the box can also use it.
    scope: "work",
    reach: "work",
    harms: ["use"],
    limits: [agreedPreview],
  },
} as const satisfies Record<string, Route>;
