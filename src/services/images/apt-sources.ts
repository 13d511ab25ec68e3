/**
 * Where this host takes its own Debian packages from, for a base of the same release. Sources of other vendors are left
 * out: what they would put into a box is not what the release is. Pure.
 */
import { omitUndefined } from "../../base/omit-undefined.ts";

export interface AptFile {
  readonly name: string;
  readonly text: string;
}

/** In the form of `.sources` files; empty when the host's configuration names none. */
export function debianSources(files: readonly AptFile[], codename: string): string {
  const stanzas = files.flatMap(({ name, text }) =>
    name.endsWith(".sources") ? readStanzas(text) : readLines(text),
  );
  return stanzas
    .filter((stanza) => isRelease(stanza, codename))
    .map(writeStanza)
    .join("\n");
}

interface Stanza {
  readonly uris: string;
  readonly suites: readonly string[];
  readonly components: readonly string[];
  readonly signedBy?: string | undefined;
}

const isRelease = ({ suites, components }: Stanza, codename: string): boolean =>
  components.includes("main") &&
  suites.length > 0 &&
  suites.every((suite) => ["", "-updates", "-security"].some((end) => suite === `${codename}${end}`));

const writeStanza = ({ uris, suites, signedBy }: Stanza): string =>
  [
    "Types: deb",
    `URIs: ${uris}`,
    `Suites: ${suites.join(" ")}`,
    // One set of components everywhere, so that hosts of one release make one base.
    "Components: main",
    ...(signedBy === undefined ? [] : [`Signed-By: ${signedBy}`]),
    "",
  ].join("\n");

function readStanzas(text: string): Stanza[] {
  return text.split(/\n\s*\n/).flatMap((block): Stanza[] => {
    const fields = new Map<string, string>();
    for (const line of block.split("\n")) {
      const match = /^([A-Za-z-]+):\s*(.*)$/.exec(line);
      if (match) fields.set(match[1]!.toLowerCase(), match[2]!.trim());
    }
    if (fields.get("enabled") === "no" || !words(fields.get("types")).includes("deb")) return [];
    const signedBy = fields.get("signed-by");
    return [
      {
        uris: fields.get("uris") ?? "",
        suites: words(fields.get("suites")),
        components: words(fields.get("components")),
        // A key that is written into the file itself goes over several lines; the host's own keys then have to do.
        ...(signedBy?.startsWith("/") ? { signedBy } : {}),
      },
    ];
  });
}

/** `deb [signed-by=…] uri suite component…` */
function readLines(text: string): Stanza[] {
  return text.split("\n").flatMap((line): Stanza[] => {
    const match = /^\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+([^#]*)/.exec(line);
    if (!match) return [];
    const signedBy = /signed-by=(\/\S+)/i.exec(match[1] ?? "")?.[1];
    return [
      {
        uris: match[2]!,
        suites: [match[3]!],
        components: words(match[4]),
        ...omitUndefined({ signedBy }),
      },
    ];
  });
}

const words = (text: string | undefined): string[] => (text ?? "").split(/\s+/).filter((word) => word !== "");
