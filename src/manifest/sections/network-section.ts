import { z } from "zod";
import { DateTime, ExceptionName, Host, Method, PathPattern, Word } from "./scalars.ts";

const Port = z.int().min(1).max(65_535);
const maxHosts = 512;

const NetworkRuleEntry = z
  .strictObject({
    host: Host.describe('The host, such as "api.example.org", or "*.example.org" for everything below it.'),
    ports: z
      .array(Port)
      .min(1)
      .max(64)
      .optional()
      .describe("Ports. Without it: 80 and 443, and all ports for a denial."),
    methods: z
      .array(Method)
      .min(1)
      .max(32)
      .optional()
      .describe("HTTP methods. Without it: all. The gate reads the requests to know."),
    paths: z
      .array(PathPattern)
      .min(1)
      .max(128)
      .optional()
      .describe(
        "Paths: * is any text within a segment, ** any number of segments. Without it: all. The gate reads the requests to know.",
      ),
    inspect: z
      .boolean()
      .optional()
      .describe("Read the requests even where no method or path is asked about, so that the audit has them."),
    mode: z
      .enum(["allow", "ask", "deny"])
      .optional()
      .describe(
        "Whether to let it pass, to ask a person each time, or to refuse it whatever other rules say.",
      ),
    expires: DateTime.optional().describe(
      'When the rule ends, such as "2030-01-31T12:00:00Z". Without it: never.',
    ),
  })
  .describe("A rule for one host. Of several, a denial wins, then the one with the most exact host.");
export type NetworkRuleEntry = z.infer<typeof NetworkRuleEntry>;

const ExceptionEntry = z
  .strictObject({
    address: Word.describe('Address and port, such as "10.0.0.5:5432" or "[fd00::5]:5432".'),
    reason: z
      .string()
      .min(8)
      .max(500)
      .describe("Why the box needs it. It is shown to the person who agrees."),
  })
  .describe(
    "One address of the local network or the host, for a database or a local model. The box reaches it as <name>.agentbox.internal. Asks for trust.",
  );

export type ExceptionEntry = z.infer<typeof ExceptionEntry>;

export const NetworkSection = z
  .strictObject({
    default: z
      .enum(["deny", "ask"])
      .optional()
      .describe("What happens to a host that no rule names: it is refused, or a person is asked."),
    learn: z
      .boolean()
      .optional()
      .describe("Note what the box wants, for agentbox policy learn. Nothing more is let through."),
    presets: z
      .array(Word)
      .max(32)
      .optional()
      .describe(
        "Lists by name. npm, pip, apt, cargo and go stand for the hosts that the tool is configured with on this host; hosts that these redirect to must be allowed by name. github-read, github-write and the like are reviewed lists of hosts, methods and paths. Each asks for trust.",
      ),
    allow: z
      .array(Host)
      .max(maxHosts)
      .optional()
      .describe(
        'Hosts the box may reach: "host", "*.host" for everything below it, either with ":port". Each asks for trust.',
      ),
    only: z
      .array(Host)
      .min(1)
      .max(maxHosts)
      .optional()
      .describe(
        "The upper bound: whatever else is allowed, nothing but these hosts is reached. User config and host policy only.",
      ),
    rules: z
      .array(NetworkRuleEntry)
      .max(256)
      .optional()
      .describe("Rules with methods, paths, modes and an end."),
    exceptions: z
      .record(ExceptionName, ExceptionEntry)
      .optional()
      .describe("Addresses of the local network or the host that the box may reach, each under its name."),
  })
  .describe("What the box may reach. Without it: nothing.");
export type NetworkSection = z.infer<typeof NetworkSection>;
