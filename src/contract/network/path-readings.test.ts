import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesPath } from "./path-pattern.ts";
import { deniesPath, permitsPath } from "./path-readings.ts";

describe("a denial of paths", () => {
  it.each([
    // Servers that were tried: Express and Caddy ignore case, Caddy trailing dots and spaces, Flask and Fastify a slash.
    ["/admin/**", "/ADMIN/x"],
    ["/admin/**", "/Admin"],
    ["/admin/**", "/admin;a=b/x"],
    ["/admin/**", "/admin;/x"],
    ["/admin/**", "/admin%3Ba/x"],
    ["/admin/**", "/admin./x"],
    ["/admin/**", "/admin%20/x"],
    ["/admin/**", "/%20admin/x"],
    ["/admin/**", "/admin.%20./x"],
    ["/admin/**", "/admin+/x"],
    ["/admin/**", "/a%C2%ADdmin/x"],
    ["/admin/**", "/admi%E2%80%8Bn"],
    ["/admin/**", "/admin%C2%A0/x"],
    ["/admin/**", "/admin%C2%85/x"],
    ["/admin/**", "/ad%EF%BD%8Din/x"],
    ["/admin/**", "/%C3%A1dmin/x"],
    ["/admin/**", "/adm%C4%B1n/x"],
    ["/secret", "/secret/"],
    ["/secret", "/%C5%BFecret"],
    ["/secret", "/secret;x"],
    ["/secret", "/secret%3Fx"],
    ["/secret", "/secret%23x/y"],
    ["/secret", "/secret::$DATA"],
    ["/secret", "/secret:x:$DATA"],
    ["/secret", "/secret.json"],
    ["/secret/", "/secret"],
    ["/internal-only", "/INTERN~1"],
    ["/secret.php", "/secret.php/x"],
    ["/owner/repo/**", "/owner/repo.git/info/refs"],
    ["/kelvin", "/%E2%84%AAelvin"],
    ["/stra%C3%9Fe", "/STRASSE"],
    ["/a%20b/**", "/A%20b/c"],
    ["/a%20b/**", "/a+b/c"],
    ["/a+b/**", "/a%20b/c"],
    ["/owner/repo.git/**", "/owner/repo/info/refs"],
    ["/owner/repo.git/**", "/Owner/REPO/info/refs"],
    ["/secret.php", "/secret"],
    ["/secret", "/secret.muchlongerextension"],
    ["/secret", "/secret.a-b"],
    ["/secret", "/secret.tar.gz"],
    ["/admin/**", "/index.php/admin/x"],
    ["/admin/**", "/INDEX.PHP/admin/x"],
    ["/admin/**", "/app/index.php;v/Admin"],
    ["/app/admin/**", "/app/index.php/admin/x"],
    ["/admin/**", "/cgi-bin/app.cgi/admin"],
    ["/admin/**", "/app.wsgi/admin/x"],
    ["/admin/**", "/main.do/admin"],
    ["/admin/**", "/api.svc/admin"],
    ["/v1/models:run", "/v1/MODELS:run"],
    // Without one plain reading.
    ["/admin/**", "//x"],
    ["/admin/**", "/x/../y"],
    ["/admin/**", "/x%2Fy"],
    ["/admin/**", "/x%5Cy"],
    ["/admin/**", "/x%00"],
    ["/admin/**", "/x%2541"],
    ["/admin/**", "/x%25%34%31"],
    ["/admin/**", "/x%25u0041"],
    ["/admin/**", "/%C0%AEx"],
    ["/admin/**", "/x%EF%BC%8Fy"],
    ["/admin/**", "/x%E2%88%95y"],
    ["/admin/**", "/%E2%80%A5/y"],
    ["/admin/**", "/%EF%BC%8E%EF%BC%8E/y"],
    ["/admin/**", "/..%20/y"],
    ["/admin/**", "/.%3B/y"],
    ["/admin/**", "/.../y"],
    ["/admin/**", "/;x/y"],
    ["/admin/**", "/%20/y"],
    ["/admin/**", "/(S(a))/admin/x"],
    ["/admin/**", "/x/%28A(b)F(c))/y"],
  ])("of %s is one of %s", (pattern, path) => expect(deniesPath([pattern], path)).toBe(true));

  it.each([
    ["/admin/**", "/administrator"],
    ["/admin/**", "/x/admin"],
    ["/admin/**", "/"],
    ["/admin/**", "/r%C3%A9sum%C3%A9.pdf"],
    ["/admin/**", "/.well-known/x"],
    ["/admin/**", "/@scope/name"],
    ["/admin/**", "/100%25"],
    ["/admin/**", "/products('x')"],
    ["/admin/**", "/f(a=g(b))"],
    ["/admin/**", "/(draft)/x"],
    ["/secret", "/secret/x"],
    ["/secret", "/secrets"],
    ["/secret.pdf", "/secret.docx"],
    ["/secret.pdf", "/secrets"],
    ["/*.pdf", "/secret"],
    ["/v1.0/**", "/v1/x"],
    ["/ab/**", "/a+b"],
    ["/admin/**", "/index.php"],
    ["/admin/**", "/index.php/open/admin"],
    ["/admin/**", "/index.html/admin"],
    ["/v1/models:run", "/v1/models"],
    ["/v1/models:run", "/v1/models:stop"],
    ["/", "/x"],
  ])("no reading of %s matches %s", (pattern, path) => expect(deniesPath([pattern], path)).toBe(false));
});

describe("a permission for paths", () => {
  it.each([
    ["/repos/**", "/repos/a;b", true],
    ["/repos/**", "/repos/r%C3%A9sum%C3%A9", true],
    ["/repos/**", "/repos/", true],
    ["/debian/**", "/debian/pool/g++_1.2+b1_amd64.deb", true],
    ["/langs/c++", "/langs/c++", true],
    ["/a;v=1/b", "/a;v=1/b", true],
    ["/wiki/**", "/wiki/What%3F", true],
    ["/v1/models:run", "/v1/models:run", true],
    ["/*/*/git-upload-pack", "/o/r.git/git-upload-pack", true],
    ["/**/*.png", "/a/b.png", true],
    ["/repos/**", "/Repos/a", false],
    ["/repos/**", "/repos;x/a", false],
    ["/secret", "/secret/", false],
    ["/**/*.png", "/admin;x.png", undefined],
    ["/**/*.png", "/admin%3Bx.png", undefined],
    ["/**/*.png", "/admin%3Fx.png", undefined],
    ["/**/*.png", "/admin%23x.png", undefined],
    ["/**/*.png", "/admin::$x.png", undefined],
    ["/open/**", "/open/%E2%80%A5/forbidden", undefined],
    ["/open/**", "/open/..%20/forbidden", undefined],
    ["/open/**", "/open/%25%32%65%25%32%65/forbidden", undefined],
    ["/open/**", "/open/x%EF%BC%8Fy", undefined],
    ["/open/**", "/open/a%2Fb", undefined],
    ["/open/**", "/open/(S(a))/x", undefined],
  ])("for %s and %s: %s", (pattern, path, expected) => expect(permitsPath([pattern], path)).toBe(expected));
});

const segment = fc.stringMatching(/^[a-z][a-z0-9-]{0,7}$/);
const hex = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
const wide = (character: string): string =>
  /[a-z0-9]/.test(character)
    ? encodeURIComponent(String.fromCodePoint(character.charCodeAt(0) + 0xfee0))
    : character;

/** Each spells a segment in another way that some server takes for the same. */
const disguises: readonly ((text: string) => string)[] = [
  (text) => text.toUpperCase(),
  (text) => `${text[0]!.toUpperCase()}${text.slice(1)}`,
  (text) => `${text};x=1`,
  (text) => `${text}%3Bx`,
  (text) => `${text}.`,
  (text) => `${text}...`,
  (text) => `${text}%20`,
  (text) => `${text}.%20`,
  (text) => `%20${text}`,
  (text) => `${text}%C2%A0`,
  (text) => `${text}%E2%80%8B`,
  (text) => `${text}::$DATA`,
  (text) => `${text}.json`,
  (text) => hex(text[0]!) + text.slice(1),
  (text) => `%25${hex(text[0]!).slice(1)}${text.slice(1)}`,
  (text) => `%25${hex(text[0]!).slice(1).replaceAll(/./g, hex)}${text.slice(1)}`,
  (text) => wide(text[0]!) + text.slice(1),
  (text) => `/${text}`,
  (text) => `./${text}`,
  (text) => `x/../${text}`,
  (text) => `x/%2e%2e/${text}`,
  (text) => `x/..%2f${text}`,
  (text) => `x%5c..%5c${text}`,
  (text) => `x\\..\\${text}`,
  (text) => `%2f${text}`,
  (text) => `%c0%af${text}`,
  (text) => `..;/${text}`,
  (text) => `${text}%00`,
  (text) => `${text}%00.png`,
  (text) => `%EF%BC%8F${text}`,
];

describe("for random prefixes", () => {
  it("a disguised path is denied", () => {
    const cases = fc.record({
      prefix: fc.array(segment, { minLength: 1, maxLength: 3 }),
      rest: fc.array(segment, { maxLength: 2 }),
      at: fc.nat(),
      chosen: fc.uniqueArray(fc.constantFrom(...disguises), { minLength: 1, maxLength: 3 }),
      end: fc.constantFrom("", "/", "?x=1", ";v"),
    });
    fc.assert(
      fc.property(cases, ({ prefix, rest, at, chosen, end }) => {
        const denied = `/${prefix.join("/")}/**`;
        const where = at % prefix.length;
        const disguised = prefix.map((part, i) =>
          i === where ? chosen.reduce((text, disguise) => disguise(text), part) : part,
        );
        const path = `/${[...disguised, ...rest].join("/")}${end}`;
        expect(deniesPath([denied], path), path).toBe(true);
      }),
      { numRuns: 20_000, seed: 20_261 },
    );
  });

  it("a permission is never wider than its pattern as it is written", () => {
    const text = fc.stringMatching(/^\/[a-zA-Z0-9%./;:~?*+-]{0,24}$/);
    fc.assert(
      fc.property(text, (path) => {
        for (const pattern of ["/a/**", "/*", "/**/*.a"])
          if (permitsPath([pattern], path) === true) {
            expect(matchesPath(pattern, path.split("?")[0]!.replaceAll(/%[0-9a-f]{2}/gi, "-"))).toBe(true);
            expect(deniesPath([pattern], path)).toBe(true);
          }
      }),
      { numRuns: 5_000, seed: 20_262 },
    );
  });

  it("a hostile path is decided, too", () => {
    expect(deniesPath([`/${"*a".repeat(50)}b`], `/${"a".repeat(8_000)}`)).toBe(false);
    expect(deniesPath([`${"/**/a".repeat(50)}/b`], "/a.a".repeat(2_000))).toBe(false);
    expect(deniesPath(["/x/**"], `/${";.".repeat(4_000)}`)).toBe(true);
    expect(deniesPath(["/x/**"], `/${":$a".repeat(2_500)}x`)).toBe(false);
    expect(deniesPath(["/x/**"], `/a${"+%20".repeat(1_900)}a`)).toBe(false);
  });
});
