/** Handlers about what is in a box: files of its workspace, ports, previews. */
import { pipeline } from "node:stream/promises";
import { includesRole } from "../../contract/access/principal.ts";
import { nameOf } from "../../core/access/caller.ts";
import { listFiles, readFile } from "../../core/files/look-at-files.ts";
import { writeFile } from "../../core/files/write-file.ts";
import { listPorts } from "../../core/exec/list-ports.ts";
import { getLink } from "../../core/exec/run-in-box.ts";
import type { fileAndPortRoutes } from "../../contract/api/routes/files-and-ports.ts";
import type { Handlers } from "./handlers.ts";

export const fileAndPortHandlers: Pick<Handlers, keyof typeof fileAndPortRoutes> = {
  listFiles: ({ deps, params, query }) => listFiles(deps.core, params["box"]!, query.path),
  async readFile({ deps, params, query, response }) {
    const { entry, length, chunks } = await readFile(deps.core, params["box"]!, query);
    // SECURITY: a browser must not take any file for a page of the dashboard's.
    response.writeHead(200, {
      "content-type": "application/octet-stream",
      "content-length": length,
      "content-disposition": `attachment; filename*=UTF-8''${encodeName(entry.name)}`,
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
    // The head is out already: only a cut can say that something is missing.
    await pipeline(chunks, response).catch(() => response.destroy());
  },
  async writeFile({ deps, params, body }) {
    const content = Buffer.from(body.content, "base64");
    await writeFile(deps.core, params["box"]!, { path: body.path, content });
    return {};
  },
  listPorts: async ({ deps, params }) => ({ ports: await listPorts(deps.core, params["box"]!) }),
  async openPreview({ deps, params, body, access }) {
    const { core, previews } = deps;
    const { box } = await getLink(core, params["box"]!);
    const { name, incarnation } = box;
    const holder = {
      who: nameOf(access.principal),
      isAllowed: () =>
        core.access.isAlive(access) && includesRole(access.roleOnLife({ box: name, incarnation }), "work"),
      hold: (end: () => void) => core.access.hold(access, end),
    };
    const mayAgree = includesRole(access.roleOnLife({ box: name, incarnation }), "own");
    return previews.openFor({ holder, box, port: body.port, mayAgree, agreed: body.agreed });
  },
};

/** As RFC 8187 wants it. A lone half of a character pair is no text, and becomes a mark in its place. */
const encodeName = (name: string): string =>
  encodeURIComponent(Buffer.from(name).toString()).replaceAll(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
