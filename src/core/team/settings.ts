import { AgentBoxError } from "../../base/errors.ts";
import { parseDuration } from "../../base/duration.ts";
import { parseUserConfig } from "../../manifest/index.ts";
import type { SignInSection, WebSection } from "../../manifest/sections/web-section.ts";
import { isWithin } from "../../contract/mount-paths.ts";
import type { Using } from "../using.ts";

const minuteMs = 60_000;

/** [web] of the owner's config, read anew each time, so that a change needs no restart. */
export async function readWebSection(core: Using<"host">): Promise<WebSection> {
  const file = await core.ports.host.readUserConfig();
  if (file === undefined) return {};
  const { config } = parseUserConfig(file.text, { file: file.file });
  if (config) return config.web ?? {};
  // SECURITY: a file that cannot be read as settings lets no one sign in.
  throw new AgentBoxError("manifest.invalid", `${file.file} cannot be read.`, {
    hint: "See what is wrong: agentbox config explain",
  });
}

/** Real paths of the directories that members may make boxes from. */
export async function memberProjects(core: Using<"host">): Promise<readonly string[]> {
  const { projects = [] } = await readWebSection(core);
  const real = await Promise.all(projects.map((project) => core.ports.host.realPath(project)));
  return real.filter((project) => project !== undefined);
}

/** Whether a real path is one of them, or below. */
export const isListed = async (core: Using<"host">, path: string): Promise<boolean> =>
  (await memberProjects(core)).some((project) => isWithin(path, project));

export async function getSignIn(core: Using<"host">): Promise<SignInSection> {
  const { sign_in } = await readWebSection(core);
  if (sign_in) return sign_in;
  throw new AgentBoxError("sign_in.off", "Sign-in for a team is not set up here.", {
    hint: "Ask the owner for a link, or see docs/sign-in.md for how to set it up.",
  });
}

/** The label of the button. */
export const providerName = ({ name, issuer }: SignInSection): string => name ?? new URL(issuer).host;

const durationOf = (text: string | undefined, fallbackMs: number): number =>
  text === undefined ? fallbackMs : (parseDuration(text) ?? fallbackMs);

export const recheckMs = ({ recheck }: SignInSection): number =>
  Math.max(1_000, durationOf(recheck, 10 * minuteMs));

export const maxSessionMs = ({ max_session }: SignInSection): number =>
  Math.max(minuteMs, durationOf(max_session, 12 * 60 * minuteMs));
