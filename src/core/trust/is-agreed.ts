import type { Using } from "../using.ts";
import type { ManifestInputs } from "./mount-requests.ts";

/**
 * Whether a person has agreed to what a manifest asks. SECURITY: only for a project. What was agreed to without one was for that box, and not for whoever asks the same.
 */
export const isAgreed = async (
  { ports: { store } }: Using<"store">,
  { projectDir }: Pick<ManifestInputs, "projectDir">,
  digest: string,
): Promise<boolean> => projectDir !== undefined && (await store.findTrust(projectDir, digest)) !== undefined;
