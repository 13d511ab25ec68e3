import type { ContentRule } from "./content-rule.ts";
import { changedChecksums } from "./changed-checksums.ts";
import { codeDirectives } from "./code-directives.ts";
import { deceivingCode } from "./deceiving-code.ts";
import { entryPoints } from "./entry-points.ts";
import { newDependencies } from "./new-dependencies.ts";
import { snapshots } from "./snapshots.ts";
import { unreadable } from "./unreadable.ts";

export const contentRules: readonly ContentRule[] = [
  newDependencies,
  changedChecksums,
  entryPoints,
  codeDirectives,
  deceivingCode,
  snapshots,
  unreadable,
];
