import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseFlags, parseManifest, parseUserConfig } from "../../manifest/index.ts";
import { trustRequests } from "./trust-requests.ts";
import type { ManifestInputs } from "./mount-requests.ts";

const manifest = (text: string) => {
  const parsed = parseManifest(`version = 1\n${text}`, { file: "/srv/app/agentbox.toml" });
  if (!parsed.layer) throw new Error(JSON.stringify(parsed.findings));
  return parsed.layer;
};
const ask = (text: string, more: Partial<ManifestInputs> = {}) =>
  trustRequests({ layers: [manifest(text)], projectDir: "/srv/app", userHome: "/home/ada", ...more });

const mount = '[[mounts]]\nsource = "/data/models"\ntarget = "/models"\n';
const variable = '[env]\nA = { from_host = "FOO" }\n';
const all = `${mount}[workspace]\nmode = "mount"\n${variable}`;

describe("what a manifest asks for", () => {
  it("is every mount, host variable and mounted workspace, in words", () => {
    expect(ask(all).requests.map((request) => request.sentence)).toEqual([
      "read /data/models of the host, as /models",
      "read the host environment variable FOO, as A",
      "change the project directory /srv/app itself, without a review",
    ]);
    expect(ask(`${mount}access = "write"`).requests[0]!.sentence).toBe(
      "read and change /data/models of the host, as /models",
    );
  });

  it("is every exception from the baseline that holds, with its reason", () => {
    const text = `[runtime]
features = ["gpu"]
[security.exceptions.vm]
reason = "runs the emulator"
devices = ["/dev/kvm"]
capabilities = ["cap_ipc_lock"]
[security.exceptions.train]
reason = "trains a model"
feature = "gpu"
gpus = 2
tmpfs = { "/scratch" = "1GiB" }
[security.exceptions.sound]
reason = "plays sounds"
feature = "sound"
devices = ["/dev/snd/timer"]
`;
    const asked = ask(text);
    expect(asked.requests.map(({ sentence }) => sentence)).toEqual([
      "use 2 graphics processors of the host and keep /scratch in memory, up to 1 GiB (train, reason: trains a model)",
      "use the device /dev/kvm of the host and have the capability IPC_LOCK (vm, reason: runs the emulator)",
    ]);
    expect(ask(text.replace("/dev/kvm", "/dev/fuse")).digest).not.toBe(asked.digest);
    expect(ask(text.replace('["gpu"]', '["gpu", "sound"]')).requests).toHaveLength(3);
    // Another reason for the same thing is not another thing.
    expect(ask(text.replace("runs the emulator", "runs an emulator")).digest).toBe(asked.digest);
  });

  it("an exception that a person typed makes no order of those beside it", () => {
    const typed = parseFlags({
      security: { exceptions: { mine: { reason: "typed by hand", devices: ["/dev/fuse"] } } },
    });
    const own = manifest('[security.exceptions.vm]\nreason = "runs the emulator"\ndevices = ["/dev/kvm"]');
    const { requests } = trustRequests({ layers: [own, typed], userHome: "/home/ada" });
    expect(requests.map((request) => "name" in request && request.name)).toEqual(["vm"]);
  });

  it("is the image, and what a devcontainer.json gives", () => {
    const image = '[runtime]\nimage = "debian:12"';
    expect(ask(image).requests.map(({ sentence }) => sentence)).toEqual(["be made from the image debian:12"]);
    const devcontainer = {
      file: ".devcontainer.json",
      image: "node:22",
      env: { B: "1", A: "2" },
      warnings: [],
    };
    const asked = ask("", { devcontainer });
    expect(asked.requests.map(({ sentence }) => sentence)).toEqual([
      "be made from the image node:22, as .devcontainer.json says",
      "set A, B in the box, as .devcontainer.json says",
    ]);
    expect(ask("", { devcontainer: { ...devcontainer, env: { A: "3", B: "1" } } }).digest).not.toBe(
      asked.digest,
    );
    const typed = parseFlags({ runtime: { image: "debian:12" } });
    expect(trustRequests({ layers: [typed], userHome: "/home/ada" }).requests).toEqual([]);
  });

  it("is every preset, host, rule and exception of the network, in words", () => {
    const network = `[network]
default = "ask"
learn = true
presets = ["npm"]
allow = ["*.example.org", "db.example.org:5432"]
[[network.rules]]
host = "api.example.org"
methods = ["GET"]
paths = ["/repos/**"]
[[network.rules]]
host = "ask.example.org"
mode = "ask"
[[network.rules]]
host = "api.example.org"
mode = "deny"
[network.exceptions.db]
address = "10.0.0.5:5432"
reason = "the test database"
[network.exceptions.model]
address = "127.0.0.1:11434"
reason = "a local model"
`;
    const rules = [{ host: "packages.example.org", ports: [443], methods: [], paths: [] }];
    const presets = new Map([["npm", { name: "npm", rules, unusable: [] }]]);
    expect(ask(network, { presets }).requests.map(({ sentence }) => sentence)).toEqual([
      "reach the hosts of the preset npm: packages.example.org",
      "reach *.example.org",
      "reach db.example.org:5432",
      "GET https://api.example.org/repos/**",
      "reach 10.0.0.5:5432 of your private network (reason: the test database)",
      "reach 127.0.0.1:11434 of this computer itself (reason: a local model)",
    ]);
    // The person's own configuration of npm is not the manifest's request.
    expect(ask(network, { presets }).digest).toBe(ask(network).digest);
    expect(ask('[network]\ndefault = "ask"\nlearn = true').requests).toEqual([]);
  });

  it("is every place and key of a model, and skills from elsewhere, in words", () => {
    const sentences = (text: string, more: Partial<ManifestInputs> = {}) =>
      ask(text, more).requests.map(({ sentence }) => sentence);
    const far = '[model.providers.far]\napi = "openai"\nbase_url = "https://models.example.org/"';
    expect(sentences(`${far}\nkey_env = "FAR_KEY"`)).toEqual([
      "send what the agent reads to https://models.example.org",
      "use the host variable FAR_KEY as the key for https://models.example.org",
    ]);
    expect(sentences(far)).toHaveLength(1);
    expect(sentences('[model.providers.anthropic]\nbase_url = "https://models.example.org"')).toEqual([
      "send what the agent reads to https://models.example.org",
    ]);
    expect(sentences('[model.providers.anthropic]\nkey_env = "OTHER"')).toEqual([
      "use the host variable OTHER as the key for https://api.anthropic.com",
    ]);
    expect(sentences('[model.providers.anthropic]\nkey_env = "ANTHROPIC_API_KEY"')).toEqual([]);
    expect(sentences(`${far}\nkey = "vault:github"`)).toEqual([
      "send what the agent reads to https://models.example.org",
      "send the secret github to https://models.example.org as the key of the model provider far",
    ]);
    expect(sentences('[model.providers.anthropic]\nkey = "vault:team"')).toEqual([
      "send the secret team to https://api.anthropic.com as the key of the model provider anthropic",
    ]);
    // The vendor's own address is another server for a person who has named their own.
    const company = parseUserConfig('[model.providers.openai]\nbase_url = "https://models.example.org"', {
      file: "/home/ada/config.toml",
    }).layer!;
    const vendor = '[model.providers.openai]\nbase_url = "https://api.openai.com"';
    expect(sentences(vendor)).toEqual([]);
    expect(sentences(vendor, { layers: [company, manifest(vendor)] })).toEqual([
      "send what the agent reads to https://api.openai.com",
      "use the host variable OPENAI_API_KEY as the key for https://api.openai.com",
    ]);
    const own = parseFlags({
      model: { providers: { far: { api: "openai", base_url: "http://127.0.0.1:1" } } },
    });
    expect(sentences(far, { layers: [manifest(far), own] })).toEqual([]);

    const skills = '[agent]\nskills = "skills"';
    expect(sentences(skills)).toEqual([]);
    expect(sentences(skills, { realPath: () => "/srv/application/skills" })).toEqual([
      "read the skills in /srv/application/skills of the host",
    ]);
    expect(sentences('[agent]\nskills = "../skills"')).toHaveLength(1);
  });

  it("is not a version, an autonomy, a model, a budget or an MCP server", () => {
    const free = `[agent]\nversion = "1.0.0"\nautonomy = "full"\ninstructions = "x"
[model]\nprovider = "openai"\nname = "x"\nallow = ["x"]
[budget.run]\ntokens = 1\n[mcp.servers.a]\ncommand = "x"`;
    expect(ask(free).requests).toEqual([]);
  });

  it("is nothing when all of it stays in the box", () => {
    const inside =
      '[agent]\nname = "shell"\n[resources]\npids = 10\n[env]\nA = "1"\n[services.web]\ncommand = "rm -rf /"';
    expect(ask(inside).requests).toEqual([]);
    expect(ask('[workspace]\nmode = "clone"').requests).toEqual([]);
  });

  it("is not what the person typed", () => {
    const flags = parseFlags({
      workspace: { mode: "clone" },
      env: { A: { from_host: "BAR" } },
      mounts: [{ source: "/data/mine", target: "/models" }],
    });
    expect(ask(all).requests).toHaveLength(3);
    expect(ask(all, { layers: [manifest(all), flags] }).requests).toEqual([]);
  });

  it("is shown without hidden characters", () => {
    const [request] = ask(mount, { realPath: () => "/data/\u001b[2J\u202e" }).requests;
    expect(request!.sentence).toBe("read /data/\\u{1b}[2J\\u{202e} of the host, as /models");
  });
});

describe("the digest", () => {
  const digest = (text: string, more?: Partial<ManifestInputs>) => ask(text, more).digest;

  it("does not depend on comments, order or what is not asked", () => {
    const second = '[[mounts]]\nsource = "/data/b"\ntarget = "/b"\n';
    const one = digest(`${mount}${second}[env]\nA = { from_host = "FOO" }\nB = { from_host = "BAR" }`);
    expect(
      digest(
        `# a comment\n[env]\nB = { from_host = "BAR" }\nC = "x"\nA = {from_host="FOO"}\n[agent]\nname = "demo"\n${second}${mount}`,
      ),
    ).toBe(one);
    expect(one).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it("changes with anything that is asked", () => {
    const texts = [
      "",
      mount,
      `${mount}access = "write"`,
      mount.replace("/data/models", "/data/other"),
      mount.replace('"/models"', '"/elsewhere"'),
      variable,
      variable.replace("FOO", "BAR"),
      variable.replace("A =", "B ="),
      `${mount}${variable}`,
      '[workspace]\nmode = "mount"',
      '[network]\npresets = ["npm"]',
      '[network]\nallow = ["a.example.org"]',
      '[network]\nallow = ["a.example.org:22"]',
      '[network]\nallow = ["*.a.example.org"]',
      '[[network.rules]]\nhost = "a.example.org"',
      '[[network.rules]]\nhost = "a.example.org"\nmethods = ["GET"]',
      '[[network.rules]]\nhost = "a.example.org"\npaths = ["/x"]',
      '[[network.rules]]\nhost = "a.example.org"\nports = [22]',
      '[[network.rules]]\nhost = "a.example.org"\nexpires = "2030-01-01T00:00:00Z"',
      '[network.exceptions.a]\naddress = "10.0.0.5:1"\nreason = "because of it"',
      '[network.exceptions.a]\naddress = "10.0.0.6:1"\nreason = "because of it"',
      '[network.exceptions.a]\naddress = "10.0.0.5:1"\nreason = "because of that"',
      '[model.providers.a]\napi = "openai"\nbase_url = "https://a.example.org"',
      '[model.providers.a]\napi = "anthropic"\nbase_url = "https://a.example.org"',
      '[model.providers.b]\napi = "openai"\nbase_url = "https://a.example.org"',
      '[model.providers.a]\napi = "openai"\nbase_url = "https://b.example.org"',
      '[model.providers.a]\napi = "openai"\nbase_url = "https://a.example.org"\nkey_env = "A"',
      '[model.providers.a]\napi = "openai"\nbase_url = "https://a.example.org"\nkey_env = "B"',
      '[model.providers.openai]\nkey_env = "B"',
      '[model.providers.openai]\nkey = "vault:a"',
      '[model.providers.openai]\nkey = "vault:b"',
      '[model.providers.anthropic]\nkey = "vault:a"',
      '[model.providers.a]\napi = "openai"\nbase_url = "https://a.example.org"\nkey = "vault:a"',
      '[agent]\nskills = "/data/skills"',
    ];
    expect(new Set(texts.map((text) => digest(text))).size).toBe(texts.length);
  });

  it("is over real paths", () => {
    expect(digest(mount, { realPath: () => "/data/models" })).toBe(digest(mount));
    expect(digest(mount, { realPath: () => "/etc/ssl" })).not.toBe(digest(mount));
    const relative = '[[mounts]]\nsource = "data"\ntarget = "/data"';
    expect(digest(relative.replace("data", "/srv/app/data"))).toBe(digest(relative));
  });

  it("two lists are equal when their digests are", () => {
    const word = fc.stringMatching(/^[a-z/"\\ ,{}]{1,5}$/);
    const layer = fc
      .uniqueArray(fc.tuple(word, word, fc.constantFrom("read" as const, "write" as const)), {
        maxLength: 3,
        selector: ([, target]) => target,
      })
      .map((mounts) => ({
        source: "manifest" as const,
        values: {
          mounts: mounts.map(([source, target, access]) => ({
            source: `/x/${source}`,
            target: `/y/${target}`,
            access,
          })),
        },
      }));
    fc.assert(
      fc.property(layer, layer, (a, b) => {
        const [left, right] = [a, b].map((one) =>
          trustRequests({ layers: [one], projectDir: "/p", userHome: "/h" }),
        );
        expect(JSON.stringify(left!.requests) === JSON.stringify(right!.requests)).toBe(
          left!.digest === right!.digest,
        );
      }),
    );
  });
});
