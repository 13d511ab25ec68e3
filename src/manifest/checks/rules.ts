import { securityRules } from "./security-rules.ts";

/** A rule of the manifest: what it refuses (E) or warns about (W), and why it exists. The documentation is generated from here. */
export interface ManifestRule {
  readonly title: string;
  readonly why: string;
  /** The smallest fragment that breaks the rule. */
  readonly example: string;
}

export const manifestRules = {
  E001: {
    title: "The file is not valid TOML",
    why: "Nothing can be read from a file with a syntax error, and guessing would be worse than refusing.",
    example: "version = ",
  },
  E002: {
    title: "The file is larger than 256 KiB",
    why: "A manifest is a page of text; a larger one is a mistake or an attempt to keep the reader busy.",
    example: "# (more than 256 KiB of text)",
  },
  E003: {
    title: "The file contains hidden characters",
    why: "Control and direction characters make a person read something else than the machine does.",
    example: 'version = 1\nenv.GREETING = "a\\u202Eb"',
  },
  E004: {
    title: "A key or table is defined twice",
    why: "One of the two would be ignored, and the reader cannot tell which.",
    example: "version = 1\nversion = 1",
  },
  E005: {
    title: "Tables or arrays are nested too deeply",
    why: "No section needs more than a few levels.",
    example: "version = 1\na.b.c.d.e.f.g.h.i.j.k = 1",
  },
  E006: {
    title: "A key has a name that programs treat specially",
    why: "Names such as __proto__ are used to change programs that read the file.",
    example: 'version = 1\nenv.__proto__ = "x"',
  },
  E007: {
    title: "The version is missing",
    why: "The version says how to read the rest, so that a file keeps its meaning when AgentBox changes.",
    example: '[agent]\nname = "shell"',
  },
  E008: {
    title: "The version is not known",
    why: "A file of another version may mean something else by the same words.",
    example: "version = 2",
  },
  E009: {
    title: "A key is not known",
    why: "A misspelt limit that is silently ignored would leave the box without that limit.",
    example: 'version = 1\n[resources]\nmemroy = "2GiB"',
  },
  E010: {
    title: "A section is reserved for a later version",
    why: "The name has its meaning already; ignoring it now would promise a protection that is not there.",
    example: "version = 1\n[placement]",
  },
  E011: {
    title: "A value has the wrong type",
    why: "Nothing is converted silently, because a conversion hides mistakes.",
    example: 'version = 1\n[resources]\npids = "many"',
  },
  E012: {
    title: "A value is not one of the allowed words",
    why: "The allowed words are the whole choice.",
    example: 'version = 1\n[workspace]\nmode = "clown"',
  },
  E013: {
    title: "A required key is missing",
    why: "There is no sensible default for it.",
    example: 'version = 1\n[[mounts]]\nsource = "data"',
  },
  E014: {
    title: "A value is outside its range",
    why: "A limit that makes no sense would stop the box from working or would be no limit at all.",
    example: "version = 1\n[resources]\npids = 2",
  },
  E015: {
    title: "A duration cannot be read",
    why: "A duration is a number with a unit, so that there is no guessing between seconds and minutes.",
    example: 'version = 1\n[lifecycle]\nttl = "5 days"',
  },
  E016: {
    title: "A size cannot be read",
    why: "A size is a number with a unit, so that there is no guessing between bytes and mebibytes.",
    example: 'version = 1\n[resources]\nmemory = "2G"',
  },
  E017: {
    title: "The time to live is over the maximum",
    why: "Forgotten boxes end by themselves; only the owner of the machine may allow longer lives, in the user config.",
    example: 'version = 1\n[lifecycle]\nttl = "30d"',
  },
  E018: {
    title: "The agent is not in the catalogue",
    why: "The box would have nothing to run.",
    example: 'version = 1\n[agent]\nname = "shel"',
  },
  E019: {
    title: "The runtime is not known",
    why: "The box could not be made.",
    example: 'version = 1\n[runtime]\nname = "bubblewarp"',
  },
  E020: {
    title: "The name of an environment variable cannot be used",
    why: "Programs and shells only agree on letters, digits and underscores, and not on a digit first.",
    example: 'version = 1\n[env]\n"MY-VAR" = "x"',
  },
  E021: {
    title: "The environment variable is set by AgentBox",
    why: "The box would not work with another value, or a box would receive what controls AgentBox on the host.",
    example: 'version = 1\n[env]\nHOME = "/tmp"',
  },
  E022: {
    title: "The target of a mount is not a plain absolute path",
    why: "A target with . or .. segments reads as one place and is another.",
    example: 'version = 1\n[[mounts]]\nsource = "data"\ntarget = "data"',
  },
  E023: {
    title: "The target of a mount covers a part of the box itself",
    why: "A mount over the system, the workspace, the home or AgentBox's own files would replace what keeps the box closed.",
    example: 'version = 1\n[[mounts]]\nsource = "data"\ntarget = "/usr/share/data"',
  },
  E024: {
    title: "The target of a mount is or lies in the target of another",
    why: "One of them would be hidden, wholly or in part, and which one would depend on their order.",
    example:
      'version = 1\n[[mounts]]\nsource = "a"\ntarget = "/data"\n[[mounts]]\nsource = "b"\ntarget = "/data"',
  },
  E025: {
    title: "The source of a mount would give the host away",
    why: "The whole disk, a home directory, or a directory of devices and control sockets is everything the box must not see.",
    example: 'version = 1\n[[mounts]]\nsource = "~"\ntarget = "/data"',
  },
  E026: {
    title: "The source of a mount cannot be read as a path",
    why: "Only absolute paths, paths below your own home (~/…) and paths relative to the manifest have one meaning.",
    example: 'version = 1\n[[mounts]]\nsource = "~alice/data"\ntarget = "/data"',
  },
  E027: {
    title: "The name of a service cannot be used",
    why: "The name appears in logs, events and commands.",
    example: 'version = 1\n[services.Web_Server]\ncommand = "serve"',
  },
  E028: {
    title: "A service waits for a service that does not exist",
    why: "It would never start.",
    example: 'version = 1\n[services.web]\ncommand = "serve"\nafter = ["database"]',
  },
  E029: {
    title: "Services wait for each other in a circle",
    why: "None of them would ever start.",
    example: 'version = 1\n[services.web]\ncommand = "serve"\nafter = ["web"]',
  },
  E030: {
    title: "Readiness is not exactly one of port, command and log",
    why: "With two there is no saying which one counts, with none there is nothing to wait for.",
    example: 'version = 1\n[services.web]\ncommand = "serve"\nready = { port = 80, log = "up" }',
  },
  E031: {
    title: "A log pattern is not a regular expression",
    why: "The service would never count as ready.",
    example: 'version = 1\n[services.web]\ncommand = "serve"\nready = { log = "(" }',
  },
  E032: {
    title: "A command is empty",
    why: "There would be nothing to run.",
    example: 'version = 1\n[services.web]\ncommand = ""',
  },
  E033: {
    title: "A host cannot be read",
    why: "A rule is about a host name. A scheme, a user, a path or a port that cannot be read would make it mean something else.",
    example: 'version = 1\n[network]\nallow = ["https://example.org/"]',
  },
  E034: {
    title: "A wildcard covers too much",
    why: "A wildcard over a name under which anyone can register, such as *.com or *.github.io, allows everyone's hosts.",
    example: 'version = 1\n[network]\nallow = ["*.com"]',
  },
  E035: {
    title: "A host is an address or a name of the local network",
    why: "Addresses and local names lead to the host and its neighbours. An exception opens one of them, with a reason.",
    example: 'version = 1\n[network]\nallow = ["10.0.0.5"]',
  },
  E036: {
    title: "A preset is not known",
    why: "The work would fail later, where the reason is harder to see.",
    example: 'version = 1\n[network]\npresets = ["nmp"]',
  },
  E037: {
    title: "A path pattern cannot be used",
    why: "Requests are judged by a path with one reading; a pattern that is written otherwise would never match.",
    example: 'version = 1\n[[network.rules]]\nhost = "example.org"\npaths = ["/a/../b"]',
  },
  E038: {
    title: "A method is not an HTTP method",
    why: "Methods are compared letter by letter, so a misspelt one would never match.",
    example: 'version = 1\n[[network.rules]]\nhost = "example.org"\nmethods = ["get"]',
  },
  E039: {
    title: "A date and time cannot be read",
    why: "Without a zone the time is ambiguous.",
    example: 'version = 1\n[[network.rules]]\nhost = "example.org"\nexpires = "tomorrow"',
  },
  E040: {
    title: "The address of an exception cannot be opened",
    why: "An exception opens one port of one address; link-local addresses, where clouds keep credentials, stay closed.",
    example:
      'version = 1\n[network.exceptions.meta]\naddress = "169.254.169.254:80"\nreason = "machine metadata"',
  },
  E041: {
    title: "The name of an exception cannot be used",
    why: "The name appears in questions and records, and the box reaches an address under it.",
    example: 'version = 1\n[network.exceptions.My_DB]\naddress = "10.0.0.5:5432"\nreason = "test database"',
  },
  E042: {
    title: "A project sets the upper bound",
    why: "The bound is what a project is kept within, so only the user config and the host policy have it.",
    example: 'version = 1\n[network]\nonly = ["example.org"]',
  },
  E043: {
    title: "The address of a model provider cannot be read",
    why: "It gets everything the agent reads. A user, a query or a fragment in it would make it mean something else.",
    example: 'version = 1\n[model.providers.local]\napi = "openai"\nbase_url = "localhost:11434"',
  },
  E044: {
    title: "A model provider on the internet is spoken to without encryption",
    why: "The key and the whole conversation would travel in the clear; http is for this computer and its own network.",
    example: 'version = 1\n[model.providers.far]\napi = "openai"\nbase_url = "http://models.example.org"',
  },
  E045: {
    title: "The address of a model provider is never opened",
    why: "Link-local addresses, where clouds keep credentials, and AgentBox's own names are no model provider.",
    example: 'version = 1\n[model.providers.meta]\napi = "openai"\nbase_url = "http://169.254.169.254"',
  },
  E046: {
    title: "The name of a model provider cannot be used",
    why: "The box reaches the provider under this name.",
    example: 'version = 1\n[model.providers.My_LLM]\napi = "openai"\nbase_url = "https://models.example.org"',
  },
  E047: {
    title: "The model provider is not known",
    why: "The agent would have no model.",
    example: 'version = 1\n[model]\nprovider = "antropic"',
  },
  E048: {
    title: "A project sets prices",
    why: "Budgets of money are held by these prices, so a project that sets them could spend what it likes.",
    example: "version = 1\n[model.prices.some-model]\ninput = 0\noutput = 0",
  },
  E049: {
    title: "A budget limits nothing",
    why: "It reads like a limit but limits nothing.",
    example: "version = 1\n[budget.run]",
  },
  E050: {
    title: "An MCP server is not exactly one of command and url",
    why: "With two there is no saying which one is meant, with none there is no server.",
    example: 'version = 1\n[mcp.servers.files]\ncommand = "serve"\nurl = "https://mcp.example.org"',
  },
  E051: {
    title: "The name of an MCP server cannot be used",
    why: "Agents make the names of tools from it.",
    example: 'version = 1\n[mcp.servers."my files"]\ncommand = "serve"',
  },
  E052: {
    title: "The address of an MCP server cannot be used",
    why: "It must be one that every agent reads in the same way.",
    example: 'version = 1\n[mcp.servers.docs]\nurl = "ftp://mcp.example.org"',
  },
  E053: {
    title: "The version of the agent is not a version",
    why: "A pin names one version; a tag such as latest or a range would be another one tomorrow.",
    example: 'version = 1\n[agent]\nversion = "latest"',
  },
  E054: {
    title: "The model is not among those that are allowed",
    why: "Every request of the agent would be refused.",
    example: 'version = 1\n[model]\nname = "large"\nallow = ["small-*"]',
  },
  E055: {
    title: "A header cannot be used",
    why: "A line break or a special character in a header changes the request around it.",
    example: 'version = 1\n[mcp.servers.docs]\nurl = "https://mcp.example.org"\nheaders = { "a b" = "c" }',
  },
  E056: {
    title: "The name of a secret cannot be used",
    why: "The name appears in commands, questions and receipts.",
    example: 'version = 1\n[secrets.My_Token]\nservice = "github"',
  },
  E057: {
    title: "A secret is not named by its name in the vault",
    why: "A manifest says which secret, and never what it is: the file is in the repository for everybody to read. Logins of agents are not for manifests.",
    example: 'version = 1\n[secrets.github]\nfrom = "the-token-itself"\nservice = "github"',
  },
  E058: {
    title: "A secret has not exactly one of service and how",
    why: "With two there is no saying which one is meant, with none there is no saying where the secret goes.",
    example: 'version = 1\n[secrets.github]\nfrom = "vault:github"',
  },
  E059: {
    title: "A key does not belong to the way a secret is used",
    why: "It reads as if it limited the secret, and it would not.",
    example: 'version = 1\n[secrets.token]\nhow = "env"\nenv = "TOKEN"\nhosts = ["api.example.org"]',
  },
  E060: {
    title: "A header cannot carry a secret",
    why: "Headers that say how a request is read or where it goes belong to the gate.",
    example: 'version = 1\n[secrets.token]\nhow = "header"\nheader = "Host"\nhosts = ["api.example.org"]',
  },
  E061: {
    title: "The file of a secret is not below /run/secrets",
    why: "Only what is there is kept in memory and never written to a disk.",
    example: 'version = 1\n[secrets.key]\nhow = "file"\nfile = "/home/agent/.key"',
  },
  E062: {
    title: "Two secrets have the same place",
    why: "There would be no saying which of them goes into a request.",
    example:
      'version = 1\n[secrets.a]\nhow = "bearer"\nhosts = ["api.example.org"]\n[secrets.b]\nhow = "bearer"\nhosts = ["api.example.org"]',
  },
  E063: {
    title: "An environment variable cannot stand for a secret",
    why: "It is set elsewhere already, or programs take it for something else than a token.",
    example: 'version = 1\n[secrets.token]\nhow = "env"\nenv = "LD_PRELOAD"',
  },
  E064: {
    title: "A model provider has two keys",
    why: "There would be no saying which of them is sent.",
    example: 'version = 1\n[model.providers.openai]\nkey = "vault:openai"\nkey_env = "OPENAI_API_KEY"',
  },
  ...securityRules,
  E074: {
    title: "Files of variables are named in the wrong way",
    why: "They are files of the project; another path would show the box what belongs to the person.",
    example: 'version = 1\n[env]\nfiles = ["../.env"]',
  },
  W001: {
    title: "The idle time is not shorter than the time to live",
    why: "The box always ends before it could be idle for so long.",
    example: 'version = 1\n[lifecycle]\nttl = "1h"\nidle = "2h"',
  },
  W002: {
    title: "The project itself is mounted into the box",
    why: "What the agent writes is in your project at once, hooks and build files included, without a review.",
    example: 'version = 1\n[workspace]\nmode = "mount"',
  },
  W003: {
    title: "The box can write to a directory of the host",
    why: "What the agent leaves there may be run or read later by programs outside the box.",
    example: 'version = 1\n[[mounts]]\nsource = "data"\ntarget = "/data"\naccess = "write"',
  },
  W004: {
    title: "An environment variable loads code into every program",
    why: "It changes each program of the box, the tools of the agent included, and is rarely meant.",
    example: 'version = 1\n[env]\nLD_PRELOAD = "/workspace/hook.so"',
  },
  W005: {
    title: "A setting has no effect here",
    why: "It reads as if it did something.",
    example: 'version = 1\n[workspace]\nmode = "copy"\ncarry = "dirty"',
  },
  W006: {
    title: "An MCP server is reached in the clear",
    why: "Everyone on the path can read and change what the agent gets from it.",
    example: 'version = 1\n[mcp.servers.docs]\nurl = "http://mcp.example.org"',
  },
  W007: {
    title: "An exception is not used",
    why: "Its feature is not enabled, so the box does not have what the exception says.",
    example:
      'version = 1\n[security.exceptions.gpu]\nreason = "trains a small model"\nfeature = "gpu"\ngpus = 1',
  },
} as const satisfies Record<string, ManifestRule>;

export type RuleCode = keyof typeof manifestRules;
