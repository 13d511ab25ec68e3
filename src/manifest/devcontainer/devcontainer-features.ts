/**
 * Features of a `devcontainer.json`, as Debian packages of the box's image. A feature is a script that runs as root when a
 * container is built; a box runs none of them. Those that only bring well-known programs have packages that do the same.
 */
import { printable } from "../../base/printable.ts";

const common = "ghcr.io/devcontainers/features/";

const packagesOf: Readonly<Record<string, readonly string[]>> = {
  "common-utils": ["curl", "jq", "less", "procps", "unzip", "zip"],
  git: ["git"],
  "git-lfs": ["git-lfs"],
  "github-cli": ["gh"],
  go: ["golang-go"],
  java: ["default-jdk-headless"],
  node: ["nodejs", "npm"],
  php: ["composer", "php-cli"],
  python: ["python3", "python3-pip", "python3-venv"],
  ruby: ["ruby-full"],
  rust: ["cargo", "rustc"],
};

interface FeaturePackages {
  readonly packages: readonly string[];
  /** One sentence each. */
  readonly warnings: readonly string[];
}

/** The effect of the features. A named image cannot be added to: then each feature is only named, too. */
export function readFeatures(file: string, raw: unknown, hasImage: boolean): FeaturePackages {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) {
    return { packages: [], warnings: [`"features" of ${file} is not used: it is not of the expected form.`] };
  }
  const found = Object.entries(raw)
    .slice(0, maxFeatures)
    .map(([name, options]) => ({ name, options, packages: hasImage ? undefined : findPackages(name) }));
  const why = hasImage
    ? "packages cannot be added to an image that is named; leave the image out, or name one that has it"
    : "only well-known ones have Debian packages in their place; name what it brings in runtime.packages";
  return {
    packages: [...new Set(found.flatMap(({ packages = [] }) => packages))].sort(),
    warnings: found
      .flatMap(({ name, options, packages }) => {
        const shown = `The feature "${name.slice(0, 120)}" of ${file}`;
        if (packages === undefined) return [`${shown} is not used: ${why}.`];
        const version = wantedVersion(name, options);
        return version === undefined ? [] : [`${shown} is Debian's version, not ${version.slice(0, 40)}.`];
      })
      .map((warning) => printable(warning)),
  };
}

const maxFeatures = 64;

/** `ghcr.io/devcontainers/features/NAME`, with a version of the feature itself or without. */
function findPackages(name: string): readonly string[] | undefined {
  const [id = ""] = name.startsWith(common) ? name.slice(common.length).split(/[:@]/) : [];
  return Object.hasOwn(packagesOf, id) ? packagesOf[id] : undefined;
}

const anyVersion = new Set(["latest", "lts", "stable", "os-provided", "system", "default", "none"]);

/** The version of its program that a feature asks for: as a text of its own, or among its options. */
function wantedVersion(name: string, options: unknown): string | undefined {
  const version =
    typeof options === "string" ? options : (options as { version?: unknown } | null | undefined)?.version;
  if (name.includes("common-utils") || typeof version !== "string") return undefined;
  return anyVersion.has(version) ? undefined : version;
}
