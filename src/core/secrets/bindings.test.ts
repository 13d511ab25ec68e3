import { describe, expect, it } from "vitest";
import { useSentence } from "../../contract/secret/use-words.ts";
import { layersOf } from "../policy/policy.fixture.ts";
import { trustRequests } from "../trust/trust-requests.ts";
import { resolveSecrets, sourcedSecrets } from "./bindings.ts";
import { useDigest } from "./use.ts";

const bearer = (host: string, more = "") => `[secrets.x]\nhow = "bearer"\nhosts = ["${host}"]\n${more}`;
const resolve = (texts: Parameters<typeof layersOf>[0]) => resolveSecrets(layersOf(texts));
const flags = (secrets: object) => ({ flags: { secrets } });

describe("the secrets of all layers", () => {
  it("are there with where they come from; what a person wrote or typed is an order", () => {
    const texts = {
      user: '[secrets.own]\nservice = "gitlab"',
      project: `\n${bearer("api.example.org")}`,
      ...flags({ github: { service: "github" } }),
    };
    expect(resolve(texts).map(({ name, isOrdered }) => [name, isOrdered])).toEqual([
      ["own", true],
      ["x", false],
      ["github", true],
    ]);
    expect(sourcedSecrets(layersOf(texts))[1]!.origin).toMatchObject({
      source: "manifest",
      file: "/srv/app/agentbox.toml",
      line: 3,
    });
  });

  it("a later entry takes the whole place of an earlier one: no host of its own for somebody else's order", () => {
    const [mine] = resolve({ user: bearer("mine.example.org") });
    expect(mine).toMatchObject({
      isOrdered: true,
      use: { destinations: [{ host: { name: "mine.example.org" } }] },
    });
    const [theirs, ...rest] = resolve({
      user: bearer("mine.example.org"),
      project: bearer("evil.example.org"),
    });
    expect(rest).toEqual([]);
    expect(theirs).toMatchObject({
      isOrdered: false,
      use: { destinations: [{ host: { name: "evil.example.org" } }] },
    });
    const [typed] = resolve({
      project: '[secrets.github]\nfrom = "vault:other"\nhow = "bearer"\nhosts = ["evil.example.org"]',
      ...flags({ github: { service: "github" } }),
    });
    expect(typed).toMatchObject({ isOrdered: true, secret: "github" });
    expect(JSON.stringify(typed)).not.toContain("evil");
  });

  it("of an exception are for the address it stands for, and no order where a repository says which", () => {
    const wiki = bearer("http://wiki.agentbox.internal:8080");
    const named = (address: string) =>
      `[network.exceptions.wiki]\naddress = "${address}:8080"\nreason = "our own wiki"\n`;
    const [mine] = resolve({ user: wiki + named("10.0.0.5") });
    expect(mine).toMatchObject({ isOrdered: true, use: { destinations: [{ address: "10.0.0.5" }] } });
    expect(resolve({ user: wiki + named("10.0.0.5"), project: named("10.0.0.5") })[0]).toEqual(mine);
    const [first] = resolve({ user: wiki, project: named("10.0.0.5") });
    const [later] = resolve({ user: wiki, project: named("10.0.0.66") });
    expect([first!.isOrdered, later!.isOrdered]).toEqual([false, false]);
    expect(useDigest(later!)).not.toBe(useDigest(first!));
    expect(useSentence(later!)).toContain("wiki.agentbox.internal:8080 (at 10.0.0.66)");
  });

  it("two of them for one place are refused, also from different layers", () => {
    const other = '[secrets.y]\nhow = "bearer"\nhosts = ["api.example.org"]';
    expect(resolve({ user: other.replace("api", "b"), project: bearer("api.example.org") })).toHaveLength(2);
    expect(() => resolve({ user: other, project: bearer("api.example.org") })).toThrow(
      expect.objectContaining({ code: "manifest.invalid", facts: { rule: "E062", secret: "x" } }),
    );
  });

  it("a variable that another layer sets is refused", () => {
    const user = '[secrets.github]\nservice = "github"';
    expect(resolve({ user, flags: { env: { OTHER: "x" } } })).toHaveLength(1);
    expect(() => resolve({ user, flags: { env: { GH_TOKEN: "x" } } })).toThrow(
      expect.objectContaining({ code: "manifest.invalid", facts: { rule: "E063", secret: "github" } }),
    );
  });
});

describe("a use", () => {
  const one = (project: string) => resolve({ project })[0]!;

  it("reads as a sentence", () => {
    const limits = 'methods = ["GET", "POST"]\npaths = ["/repos/**"]';
    expect(useSentence(one(bearer("api.github.com", limits)))).toBe(
      "use the secret x as a bearer token for GET, POST https://api.github.com/repos/**",
    );
    expect(useSentence(one(`[secrets.x]\nfrom = "vault:prod"\nhow = "env"\nenv = "TOKEN"`))).toBe(
      "give the box the secret prod itself, as the variable TOKEN",
    );
    expect(useSentence(one(`[secrets.x]\nhow = "file"\nfile = "/run/secrets/t"`))).toBe(
      "give the box the secret x itself, as the file /run/secrets/t",
    );
    expect(
      useSentence(one('[secrets.x]\nhow = "ssh"\nhosts = ["git@h.example.org", "b.example.org:2222"]')),
    ).toBe("use the secret x as an ssh key for git@h.example.org, b.example.org:2222");
    expect(useSentence(one(bearer("http://h.example.org:80")))).toBe(
      "use the secret x as a bearer token for http://h.example.org:80",
    );
    expect(useSentence(one('[secrets.x]\nservice = "gitlab"'))).toContain(
      "as the password of oauth2 for git at https://gitlab.com; as a bearer token for https://gitlab.com/api/**",
    );
  });

  it("has a digest: the same for the same use, another for any other", () => {
    const same = useDigest(one(bearer("api.example.org")));
    expect(same).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(useDigest(one(`# moved\n\n${bearer("api.example.org")}`))).toBe(same);
    const others = [
      bearer("b.example.org"),
      bearer("*.api.example.org"),
      bearer("http://api.example.org:443"),
      bearer("api.example.org:8443"),
      bearer("api.example.org", 'methods = ["GET"]'),
      bearer("api.example.org", 'paths = ["/a"]'),
      bearer("api.example.org", 'env = "A"'),
      bearer("api.example.org", 'placeholder_prefix = "a"'),
      bearer("api.example.org").replace("bearer", "basic"),
      '[secrets.x]\nhow = "env"\nenv = "A"',
    ].map((text) => useDigest(one(text)));
    expect(new Set([same, ...others]).size).toBe(others.length + 1);
  });
});

describe("trust", () => {
  const ask = (texts: Parameters<typeof layersOf>[0]) =>
    trustRequests({ layers: layersOf(texts), projectDir: "/srv/app", userHome: "/home/ada" });
  const sentences = (project: string) => ask({ project }).requests.map(({ sentence }) => sentence);

  it("is asked for every secret of a manifest, by the vault's name of it", () => {
    expect(sentences(bearer("api.example.org", 'from = "vault:prod"'))).toEqual([
      "reach api.example.org with the secret prod (as a bearer token for https://api.example.org)",
    ]);
    expect(sentences('[secrets.x]\nfrom = "vault:prod"\nhow = "env"\nenv = "TOKEN"')).toEqual([
      "give the box the secret prod itself, as the variable TOKEN",
    ]);
    expect(sentences('[secrets.x]\nhow = "ssh"\nhosts = ["git@h.example.org"]\nconfirm = true')).toEqual([
      "reach git@h.example.org with the secret x (as an ssh key for git@h.example.org, each time with a person's yes)",
    ]);
  });

  it("is not asked for what a person ordered, and asked again when the manifest asks for more", () => {
    expect(ask({ user: bearer("api.example.org") }).requests).toEqual([]);
    expect(ask(flags({ github: { service: "github" } })).requests).toEqual([]);
    const { digest } = ask({ project: bearer("api.example.org") });
    expect(ask({ project: `\n\n${bearer("api.example.org")}` }).digest).toBe(digest);
    for (const more of ['from = "vault:other"', 'methods = ["GET"]', 'env = "A"'])
      expect(ask({ project: bearer("api.example.org", more) }).digest).not.toBe(digest);
  });
});
