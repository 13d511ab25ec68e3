import type { Box } from "../../contract/box.ts";

/** The common name of a box's repository: the last part of its address or directory. */
export function repositoryName({ spec, projectDir }: Pick<Box, "spec" | "projectDir">): string | undefined {
  const { url, source } = spec.workspace;
  const address = url ?? source ?? projectDir;
  const last = address
    ?.replace(/[?#].*$/, "")
    .split(/[/:]/)
    .findLast((part) => part !== "");
  const name = last?.replace(/\.git$/, "");
  return name === undefined || name === "" ? undefined : name.slice(0, 200);
}
