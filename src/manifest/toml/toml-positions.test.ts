import { parse } from "smol-toml";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Path } from "../path.ts";
import { renderManifest } from "../render.ts";
import { indexToml } from "./toml-positions.ts";

const at = (text: string, path: Path, part: "key" | "value" = "key") => {
  const { line, column } = indexToml(text).find(path, part);
  return `${line}:${column}`;
};

describe("positions in TOML", () => {
  it("finds keys and values of tables", () => {
    const text = 'version = 1\n\n[resources] # limits\n  memory = "2GiB"\n';
    expect(at(text, ["version"], "value")).toBe("1:11");
    expect(at(text, ["resources"])).toBe("3:1");
    expect(at(text, ["resources", "memory"])).toBe("4:3");
    expect(at(text, ["resources", "memory"], "value")).toBe("4:12");
  });

  it("counts arrays of tables, and tables inside them", () => {
    const text =
      '[[mounts]]\nsource = "a"\n[[mounts]]\nsource = "b"\n[mounts.more]\nx = 1\n[[mounts.list]]\ny = 2\n';
    expect(at(text, ["mounts", 0, "source"])).toBe("2:1");
    expect(at(text, ["mounts", 1, "source"])).toBe("4:1");
    expect(at(text, ["mounts", 1, "more", "x"])).toBe("6:1");
    expect(at(text, ["mounts", 1, "list", 0, "y"])).toBe("8:1");
  });

  it("reads dotted and quoted keys, also with spaces and escapes", () => {
    const text = 'env . "A.B" = "x"\nenv.\'C D\'="y"\n"s\\u0065rvices".web.command = "z"\n';
    expect(at(text, ["env", "A.B"], "value")).toBe("1:15");
    expect(at(text, ["env", "C D"], "value")).toBe("2:11");
    expect(at(text, ["services", "web", "command"])).toBe("3:1");
    expect(at(text, ["services", "web"])).toBe("3:1");
  });

  it("looks into inline tables and arrays, over several lines and comments", () => {
    const text =
      'ready = { port = 1, log = "}" }\nafter = [ # one ]\n  "a,b",\n  """c""" , [1, 2],\n]\nlast = 1\n';
    expect(at(text, ["ready", "log"])).toBe("1:21");
    expect(at(text, ["after", 1], "value")).toBe("4:3");
    expect(at(text, ["after", 2, 1], "value")).toBe("4:17");
    expect(at(text, ["last"])).toBe("6:1");
  });

  it("is not misled by long strings", () => {
    const text = 'a = """\n[not.a.table]\nb = 1\n\\""" still"""""\nc = \'\'\'\n[x]\\\'\'\'\nd = 1\r\ne = 2\n';
    expect(parse(text)).toMatchObject({ d: 1, e: 2 });
    expect(at(text, ["c"])).toBe("5:1");
    expect(at(text, ["d"])).toBe("7:1");
    expect(at(text, ["e"])).toBe("8:1");
    expect(indexToml(text).has(["b"])).toBe(false);
  });

  it("falls back to the nearest parent, and to the start", () => {
    const text = "\n[agent]\n";
    expect(at(text, ["agent", "name"])).toBe("2:1");
    expect(at(text, ["nothing"])).toBe("1:1");
    expect(at('a = {\n b = "', ["a", "c"])).toBe("1:1");
  });

  it("knows every value of what the writer writes", () => {
    const words = fc.stringMatching(/^[a-z]{1,6}$/);
    const text = fc.string({ unit: "grapheme-ascii" });
    const manifest = fc.record({
      agent: fc.record({ name: words, args: fc.array(text) }),
      env: fc.dictionary(words, fc.oneof(text, fc.record({ from_host: words }))),
      mounts: fc.array(fc.record({ source: text, target: text })),
      services: fc.dictionary(
        words,
        fc.record({ command: fc.oneof(text, fc.array(text)), after: fc.array(words) }),
      ),
    });
    fc.assert(
      fc.property(manifest, (values) => {
        const source = renderManifest(values);
        const positions = indexToml(source);
        for (const path of pathsOf(parse(source)))
          expect(positions.has(path), `${path.join(".")} in ${source}`).toBe(true);
      }),
    );
  });
});

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (value === null || typeof value !== "object") return [path];
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return [
    ...(path.length > 0 ? [path] : []),
    ...entries.flatMap(([key, child]) => pathsOf(child, [...path, key])),
  ];
}
