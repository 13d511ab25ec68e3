/**
 * The permissions of team members and programs. Their values come from someone other than the owner, so they are a
 * request like a manifest: anything beyond the workspace needs a yes of the owner or an admin.
 */
import { AgentBoxError } from "../../base/errors.ts";
import type { PersonPrincipal, Principal } from "../../contract/access/principal.ts";
import type { Box } from "../../contract/box.ts";
import type { AccessState } from "../../ports/access-records.ts";
import type { Using } from "../using.ts";
import { idOf } from "../access/caller.ts";
import { noSuchDirectory } from "../manifest/read-layers.ts";
import type { Visibility } from "../access/visibility.ts";
import { isListed } from "./settings.ts";

/** For whom a box is made. */
export interface Maker {
  /** Absent: the owner of the host. */
  readonly person?: string | undefined;
  /** Whether what was typed is a request, as a manifest is, and not an order. */
  readonly isRequest: boolean;
  /** Whether it came from a page, and not from the owner's command line or a program. */
  readonly isInBrowser?: boolean;
}

export const ownerMaker: Maker = { isRequest: false };

function personOf(principal: Principal): PersonPrincipal | undefined {
  if (principal.kind === "token") return personOf(principal.of);
  return principal.kind === "person" ? principal : undefined;
}

export const makerOf = ({ principal, credential, mayOrder }: Visibility): Maker => ({
  person: personOf(principal)?.id,
  isRequest: !mayOrder,
  isInBrowser: credential.kind === "session",
});

/**
 * SECURITY: a box made from a directory shows its content, such as ~/.ssh. Every directory that is not listed looks as
 * if it did not exist, or members could explore the host.
 */
export async function requireProject(
  core: Using<"access" | "host">,
  access: Visibility,
  { projectDir: dir }: { readonly projectDir?: string | undefined },
): Promise<void> {
  if (access.mayOrder || dir === undefined) return;
  const real = dir.startsWith("/") ? await core.ports.host.realPath(dir) : undefined;
  if (real !== undefined && (await isListed(core, real))) return;
  const { kind } = access.principal;
  core.access.refused("authority", {
    parameter: "projectDir",
    needs: "trust",
    who: kind,
    id: idOf(access.principal),
  });
  throw noSuchDirectory(
    dir,
    access.isOfHost ? "For a token, list it: [web] projects in config.toml." : undefined,
  );
}

export const forbidden = (message: string): AgentBoxError =>
  new AgentBoxError("access.forbidden", message, { hint: "Ask the owner or an admin." });

const maxBoxOwners = 5_000;

/** The maker of a box, noted before it exists, so that it has an owner at every moment. */
export function withBoxOwner(
  state: AccessState,
  { name, incarnation }: Pick<Box, "name" | "incarnation">,
  person: string,
  boxes: readonly Box[],
): AccessState {
  // Those of boxes that are gone stay for a while: their cost and events are still the person's.
  const isThere = new Set(boxes.map((box) => box.incarnation));
  const [here, gone] = [
    state.boxOwners.filter((one) => isThere.has(one.incarnation)),
    state.boxOwners.filter((one) => !isThere.has(one.incarnation)),
  ];
  return { ...state, boxOwners: [...gone.slice(-maxBoxOwners), ...here, { box: name, incarnation, person }] };
}

/** The person whose box it is; undefined for the owner's own. */
export const boxPerson = (
  { boxOwners }: AccessState,
  { name, incarnation }: Pick<Box, "name" | "incarnation">,
): string | undefined => boxOwners.find((one) => one.box === name && one.incarnation === incarnation)?.person;

/** Whose box it is, for people to read; nothing where it is the owner's. */
/** For people: who asked for something. */
export const makerName = (core: Using<"access">, { person }: Maker): string =>
  person === undefined ? "owner" : (core.access.findPerson(person)?.name ?? "somebody");

export function ownerName(core: Using<"access">, box: Box): { readonly person?: string } {
  const id = boxPerson(core.access.records.state, box);
  return id === undefined ? {} : { person: core.access.findPerson(id)?.name ?? "somebody" };
}
