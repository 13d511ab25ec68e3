import type { Check } from "./check-context.ts";
import { manifestDefaults } from "../defaults.ts";
import type { Problem } from "../finding.ts";
import type { Path } from "../path.ts";

/** The embedded runtime has the host's own system and no engine; without a name, a runtime that fits is chosen. */
const embedded = manifestDefaults.runtime.name;

export const checkRuntime: Check = ({ runtime = {}, security }) => {
  if (runtime.name !== embedded) return [];
  const exceptions = Object.entries(security?.exceptions ?? {});
  return [
    ...(["image", "packages"] as const)
      .filter((key) => runtime[key] !== undefined)
      .map((key) => unfit(["runtime", key], `runtime.${key} needs a container runtime`)),
    ...(runtime.tier === undefined || runtime.tier === "namespaces"
      ? []
      : [unfit(["runtime", "tier"], `runtime.tier = "${runtime.tier}" is more than it has`)]),
    ...exceptions.flatMap(([name, entry]) =>
      (["devices", "capabilities", "gpus"] as const)
        .filter((key) => entry[key] !== undefined)
        .map((key) => unfit(["security", "exceptions", name, key], `${key} need a container runtime`)),
    ),
  ];
};

const unfit = (path: Path, what: string): Problem => ({
  code: "E073",
  path,
  at: "key",
  message: `The runtime "${embedded}" cannot do this: ${what}.`,
  hint: "Remove runtime.name, or name a container runtime; agentbox doctor shows which are ready.",
});
