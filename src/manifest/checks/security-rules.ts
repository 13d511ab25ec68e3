import type { ManifestRule } from "./rules.ts";

/** The rules of [runtime] and [security]. */
export const securityRules = {
  E065: {
    title: "An image is not named by a plain reference",
    why: "A reference is a name with a tag or a digest; anything else in it would be read as more than a name on its way to the engine.",
    example: 'version = 1\n[runtime]\nimage = "debian:12; reboot"',
  },
  E066: {
    title: "A package is not a Debian package name",
    why: "The names are handed to the package manager as they are.",
    example: 'version = 1\n[runtime]\npackages = ["--allow-unauthenticated"]',
  },
  E067: {
    title: "The name of a feature cannot be used",
    why: "The name appears in questions and records.",
    example: 'version = 1\n[runtime]\nfeatures = ["My GPU"]',
  },
  E068: {
    title: "A device is never given to a box",
    why: "Memory, disks, keyboards and the kernel's log are the host itself; only devices that are known to stay apart can be asked for.",
    example: 'version = 1\n[security.exceptions.disk]\nreason = "needs the raw disk"\ndevices = ["/dev/sda"]',
  },
  E069: {
    title: "A capability is never given to a box",
    why: "Most capabilities are a way out of the box; only those that reach nothing outside it can be asked for.",
    example:
      'version = 1\n[security.exceptions.admin]\nreason = "mounts file systems"\ncapabilities = ["SYS_ADMIN"]',
  },
  E070: {
    title: "A directory in memory cannot be there",
    why: "It would cover the system, the workspace, the home, AgentBox's own files or another mount.",
    example:
      'version = 1\n[security.exceptions.fast]\nreason = "speeds up the build"\ntmpfs = { "/workspace" = "1GiB" }',
  },
  E071: {
    title: "An exception asks for nothing",
    why: "It reads as if the box had something more.",
    example: 'version = 1\n[security.exceptions.nothing]\nreason = "no reason at all"',
  },
  E072: {
    title: "A setting that opens the box does not exist",
    why: "The baseline of a box is never removed; what is needed beyond it is added by name, with a reason.",
    example: "version = 1\n[runtime]\nprivileged = true",
  },
  E073: {
    title: "A setting does not fit the runtime",
    why: "The runtime that is named cannot do it, and the box would be refused later.",
    example: 'version = 1\n[runtime]\nname = "bubblewrap"\nimage = "debian:12"',
  },
} as const satisfies Record<string, ManifestRule>;
