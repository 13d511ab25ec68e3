import type { Using } from "../using.ts";
import type { ManifestInputs } from "./mount-requests.ts";

/**
 * Whether a person has agreed to a manifest's requests. SECURITY: only for a project. A yes without a project was for
 * that box, and not for others that ask the same.
 */
export const isAgreed = async (
  { ports: { store } }: Using<"store">,
  { projectDir }: Pick<ManifestInputs, "projectDir">,
  digest: string,
): Promise<boolean> => projectDir !== undefined && (await store.findTrust(projectDir, digest)) !== undefined;
