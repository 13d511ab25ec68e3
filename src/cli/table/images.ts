import type { CommandSpec } from "../command.ts";
import { boxFlags } from "./flags.ts";

export const images: readonly CommandSpec[] = [
  {
    name: "build",
    group: "Project",
    summary: "Build the image that container boxes of this project are made from.",
    usage: "build [AGENT] [flags]",
    examples: [
      "agentbox build                          what the manifest says; nothing when nothing changed",
      "agentbox build claude --no-cache        everything again, with the newest packages",
      "agentbox build --sbom parts.json        and the list of what is in it",
    ],
    flags: {
      runtime: boxFlags["runtime"]!,
      "agent-version": boxFlags["agent-version"]!,
      "no-cache": { type: "switch", summary: "Make the base and every layer again." },
      "no-install": { type: "switch", summary: "Do not install an agent that is missing." },
      sbom: { type: "text", value: "FILE", summary: "Write the list of its parts there (CycloneDX)." },
      trust: boxFlags["trust"]!,
    },
    takes: [0, 1],
    completes: "agent",
    load: () => import("../commands/build.ts"),
  },
  {
    name: "images",
    group: "Host",
    summary: "List or remove the images that were built here.",
    usage: "images [ls|rm NAME|prune] [flags]",
    examples: ["agentbox images", "agentbox images rm 0123456789ab", "agentbox images prune --dry-run"],
    flags: { "dry-run": { type: "switch", summary: "With prune: only say what would be removed." } },
    takes: [0, 2],
    completes: ["ls", "rm", "prune"],
    load: () => import("../commands/images.ts"),
  },
];
