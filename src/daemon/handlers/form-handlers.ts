/** Handlers for forms: they look, and make nothing. */
import type { formRoutes } from "../../contract/api/routes/forms.ts";
import { manifestJsonSchema } from "../../manifest/index.ts";
import { makerOf, requireProject } from "../../core/team/members.ts";
import { memberProjects } from "../../core/team/settings.ts";
import { checkManifest } from "../../core/plan/check-manifest.ts";
import type { Using } from "../../core/using.ts";
import { saveTemplate } from "../../core/manifest/save-template.ts";
import { listProjects } from "../../core/manifest/list-projects.ts";
import type { Handlers } from "./handlers.ts";

export const formHandlers: Pick<Handlers, keyof typeof formRoutes> = {
  getManifestSchema: async ({ deps: { core } }) => ({
    schema: { ...manifestJsonSchema() },
    choices: await choicesOf(core),
  }),
  async checkManifest({ deps: { core }, body, access }) {
    await requireProject(core, access, body);
    return checkManifest(core, { ...body, ...makerOf(access) });
  },
  listTemplates: async ({ deps: { core } }) => ({ templates: [...(await core.ports.host.listTemplates())] }),
  async saveTemplate({ deps: { core }, body }) {
    await saveTemplate(core, body);
    return {};
  },
  async listProjects({ deps: { core }, access }) {
    const all = await core.ports.store.listBoxes();
    const boxes = all.filter(({ name, incarnation }) => access.shows({ box: name, incarnation }));
    const listed = memberProjects(core);
    // A config that cannot be read lists nothing; its owner is told about it elsewhere.
    const more = await (access.mayOrder ? listed.catch(() => []) : listed);
    return { projects: await listProjects(core, { boxes, more, includesTrusted: access.isOfHost }) };
  },
};

/** Names that only this host knows; the schema says no more than that they are words. */
async function choicesOf({
  ports,
}: Using<"agents" | "presets" | "refreshAgents" | "runtimes">): Promise<Record<string, string[]>> {
  await ports.refreshAgents();
  return {
    "agent.name": Object.keys(ports.agents),
    "runtime.name": [...ports.runtimes.offered],
    "network.presets": [...ports.presets.names],
  };
}
