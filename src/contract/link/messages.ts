import { z } from "zod";
import type { SeedFile } from "../agent.ts";
import { type MemoryDir, memoryDirs } from "../box-paths.ts";
import { MainSession, ServiceSpec } from "../box.ts";

/**
 * The messages of the link. boxd dials the per-box socket: once for the control connection, and once more for each
 * stream the host asks for. The host checks every message against these schemas, because the box is hostile; boxd only
 * takes the types. The socket a connection arrives on says which box it is.
 */
export { linkProtocol } from "./protocol.ts";

/** One thing that the manifest promises to be in the box. */
export interface Artifact {
  /** Its purpose, as people are told. */
  readonly what: string;
  /** Absolute, or for a program a name that is looked for in the PATH. */
  readonly path: string;
  readonly kind: "program" | "file" | "directory";
  /** The PATH that the program's own environment sets. */
  readonly searchPath?: string | undefined;
}

/** The read-only file next to the socket from which boxd boots; what is not in it does not exist. */
export interface BoxdConfig {
  protocol: number;
  box: string;
  hostname: string;
  workspace: string;
  env: Record<string, string>;
  /** Directories at the end of every PATH. */
  path?: string[] | undefined;
  /** Directories of toolchains, before those of the system. */
  toolchainPath?: string[] | undefined;
  services: ServiceSpec[];
  /** boxd looks for these before anything starts; with one of them missing nothing does. */
  artifacts?: readonly Artifact[] | undefined;
  /** TCP ports on which boxd stands for the names of the policy; without it the box has no way out. */
  network?: { ports: number[] } | undefined;
  /** Services wait until the host has sent the secrets that the box holds. SECURITY: this file has none of them. */
  awaitsSecrets?: boolean | undefined;
  /** Only in a box with a key to use: where programs find the agent, and the host keys of the key's servers. */
  sshAgent?: { socket: string; knownHosts: string } | undefined;
}

/** First frame of every connection, from boxd. */
export const Hello = z.discriminatedUnion("role", [
  z.strictObject({
    role: z.literal("control"),
    protocol: z.int(),
    /** New at every boot of boxd, so that the host can tell a reconnect from a restart. */
    boot: z.string().max(64),
    version: z.string().max(64),
    /** Paths of the promised artifacts that are not there. */
    missing: z.array(z.string().max(4096)).max(1024).optional(),
  }),
  z.strictObject({ role: z.literal("stream"), protocol: z.int(), id: z.string().max(64) }),
  /** A way out, asked for by a program in the box. After this frame the bytes are the program's own. */
  z.strictObject({
    role: z.literal("gate"),
    protocol: z.int(),
    via: z.enum(["tcp", "proxy", "ssh-agent"]),
    host: z.string().max(255).optional(),
    port: z.int().min(1).max(65_535).optional(),
    program: z.string().max(64).optional(),
  }),
]);
export type Hello = z.infer<typeof Hello>;

/** Answer of the host to a control hello. */
export type Welcome = { type: "welcome"; protocol: number } | { type: "refused"; reason: string };

// ---- streams: what the host asks boxd to open -------------------------------------------------------------

export const ExecOp = z.strictObject({
  kind: z.literal("exec"),
  argv: z.array(z.string()).min(1).max(4096),
  env: z.record(z.string(), z.string()),
  cwd: z.string().optional(),
  /** With a terminal, stdout and stderr are one. */
  terminal: z.strictObject({ cols: z.int().min(1).max(1000), rows: z.int().min(1).max(1000) }).optional(),
  timeoutMs: z.int().positive().optional(),
});
export type ExecOp = z.infer<typeof ExecOp>;

/** Joins a terminal session: first the exact screen, then everything that follows. */
export const AttachOp = z.strictObject({
  kind: z.literal("attach"),
  session: z.string(),
  cols: z.int().min(1).max(1000),
  rows: z.int().min(1).max(1000),
  readOnly: z.boolean(),
  /** Whether the viewer's own terminal answers what programs ask their terminal; without one, boxd does. */
  answers: z.boolean().optional(),
});
export type AttachOp = z.infer<typeof AttachOp>;

/** Output of a session or service from a byte offset on; what the box no longer has is reported as a gap. */
export const FollowOp = z.strictObject({
  kind: z.literal("follow"),
  source: z.string(),
  offset: z.int().min(0),
});
export type FollowOp = z.infer<typeof FollowOp>;

export const ReadFilesOp = z.strictObject({ kind: z.literal("files.read"), path: z.string() });
export type ReadFilesOp = z.infer<typeof ReadFilesOp>;
export const WriteFilesOp = z.strictObject({ kind: z.literal("files.write"), path: z.string() });
export type WriteFilesOp = z.infer<typeof WriteFilesOp>;

/** One directory of the workspace, entry by entry. */
export const ListFilesOp = z.strictObject({ kind: z.literal("files.list"), path: z.string() });
export type ListFilesOp = z.infer<typeof ListFilesOp>;
/** A part of one file of the workspace: what it is, its bytes, and `end`. */
export const SliceFileOp = z.strictObject({
  kind: z.literal("files.slice"),
  path: z.string(),
  offset: z.int().min(0),
  length: z.int().min(0),
});
export type SliceFileOp = z.infer<typeof SliceFileOp>;

/** The bytes of one TCP connection to a port on the box's own loopback. */
export const OpenPortOp = z.strictObject({ kind: z.literal("port.open"), port: z.int().min(1).max(65_535) });
export type OpenPortOp = z.infer<typeof OpenPortOp>;
/** The listeners in the box. */
const ListPortsOp = z.strictObject({ kind: z.literal("ports.list") });

export const StreamOp = z.discriminatedUnion("kind", [
  ExecOp,
  AttachOp,
  FollowOp,
  ReadFilesOp,
  WriteFilesOp,
  ListFilesOp,
  SliceFileOp,
  OpenPortOp,
  ListPortsOp,
]);
export type StreamOp = z.infer<typeof StreamOp>;

/** JSON frames from the host on a stream (data frames are stdin or file contents). */
export const StreamInput = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("signal"),
    signal: z.enum(["HUP", "INT", "QUIT", "TERM", "KILL", "USR1", "USR2"]),
  }),
  z.strictObject({
    type: z.literal("resize"),
    cols: z.int().min(1).max(1000),
    rows: z.int().min(1).max(1000),
  }),
  z.strictObject({
    type: z.literal("entry"),
    path: z.string(),
    kind: z.enum(["file", "dir", "symlink"]),
    mode: z.int(),
    size: z.int().min(0),
    target: z.string().optional(),
  }),
  z.strictObject({ type: z.literal("end") }),
]);
export type StreamInput = z.infer<typeof StreamInput>;

/** How much is used of a directory of the box that lies in memory. */
export const MemoryUse = z.strictObject({
  path: z.enum(Object.keys(memoryDirs) as [MemoryDir, ...MemoryDir[]]),
  sizeBytes: z.int().min(0),
  usedBytes: z.int().min(0),
});
export type MemoryUse = z.infer<typeof MemoryUse>;

/** JSON frames from boxd on a stream. The last one is `exit`, `end` or `failed`; then the connection closes. */
export const StreamOutput = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("started") }),
  /** Of the terminal: before each screen, and at every change of size. */
  z.strictObject({
    type: z.literal("size"),
    cols: z.int().min(1).max(1000),
    rows: z.int().min(1).max(1000),
  }),
  z.strictObject({
    type: z.literal("exit"),
    code: z.int().nullable(),
    signal: z.string().max(16).nullable(),
    timedOut: z.boolean(),
    /** Directories in memory that had no room left when the program ended. */
    full: z.array(MemoryUse).max(8).optional(),
  }),
  z.strictObject({ type: z.literal("failed"), code: z.string().max(64), message: z.string().max(4096) }),
  z.strictObject({
    type: z.literal("entry"),
    path: z.string().max(4096),
    kind: z.enum(["file", "dir", "symlink"]),
    mode: z.int().min(0).max(0o7777),
    size: z.int().min(0),
    target: z.string().max(4096).optional(),
  }),
  /** One entry of a directory, or the file whose bytes follow. Names are the box's own words. */
  z.strictObject({
    type: z.literal("listed"),
    name: z.string().max(1024),
    kind: z.enum(["file", "dir", "symlink", "other"]),
    size: z.int().min(0),
    mtimeMs: z.int().optional(),
    target: z.string().max(4096).optional(),
  }),
  z.strictObject({
    type: z.literal("port"),
    port: z.int().min(1).max(65_535),
    address: z.string().max(64),
    program: z.string().max(64).optional(),
  }),
  /** The next data frame starts here; bytes in between were dropped because they were not taken in time. */
  z.strictObject({ type: z.literal("offset"), offset: z.int().min(0) }),
  z.strictObject({
    type: z.literal("end"),
    entries: z.int().min(0).optional(),
    bytes: z.int().min(0).optional(),
  }),
]);
export type StreamOutput = z.infer<typeof StreamOutput>;

// ---- control connection -----------------------------------------------------------------------------------

/** Starts a session; files and links are put into the home first. */
export interface SessionStart {
  session: string;
  spec: MainSession;
  files?: readonly SeedFile[] | undefined;
  /** Relative path in the home → absolute target. */
  links?: Readonly<Record<string, string>> | undefined;
  /** Nothing will ever be typed: the program's input is at its end from the start. */
  hasNoInput?: boolean | undefined;
  /** Lines of the hooks file are offered as the source `hooks`. */
  hasHooks?: boolean | undefined;
}

/** The secret values that a box holds itself: over the link only, and from there on in its memory only. */
export interface HeldSecrets {
  readonly env: Readonly<Record<string, string>>;
  /** Absolute paths below `boxPaths.secrets`. */
  readonly files: readonly { readonly path: string; readonly base64: string }[];
}

/** Host → boxd. A request is answered once, with its id. */
export type ControlRequest =
  | { type: "open"; id: string; op: StreamOp }
  | { type: "request"; id: number; method: "session.start"; params: SessionStart }
  | { type: "request"; id: number; method: "session.input"; params: { session: string; text: string } }
  | { type: "request"; id: number; method: "session.signal"; params: { session: string; signal: string } }
  | { type: "request"; id: number; method: "health"; params: Record<string, never> }
  | { type: "request"; id: number; method: "network.ports"; params: { ports: number[] } }
  | { type: "request"; id: number; method: "secrets.put"; params: HeldSecrets }
  | { type: "request"; id: number; method: "seal"; params: Record<string, never> }
  | { type: "request"; id: number; method: "shutdown"; params: { graceMs: number } };
export type ControlMethod = Extract<ControlRequest, { type: "request" }>["method"];

export const SessionStatus = z.strictObject({
  id: z.string().max(64),
  /** The beginning: people are shown it, and it is told again and again. */
  argv: z.array(z.string().max(512)).max(64),
  terminal: z.boolean(),
  state: z.enum(["running", "ended"]),
  exitCode: z.int().nullable(),
  signal: z.string().max(16).nullable(),
  startedAtMs: z.int(),
  viewers: z.int().min(0),
  /** Bytes of output so far; offsets of `follow` count these. */
  outputBytes: z.int().min(0),
});
export type SessionStatus = z.infer<typeof SessionStatus>;

export const ServiceStatus = z.strictObject({
  name: z.string().max(64),
  state: z.enum(["waiting", "starting", "ready", "backing_off", "stopped", "failed"]),
  restarts: z.int().min(0),
  exitCode: z.int().nullable(),
  message: z.string().max(1024),
  outputBytes: z.int().min(0),
});
export type ServiceStatus = z.infer<typeof ServiceStatus>;

export const Health = z.strictObject({
  uptimeMs: z.number(),
  /** Time since the last input, output or exec in the box. */
  idleMs: z.number(),
  rssBytes: z.number(),
  processes: z.int(),
  /** The boot is over: nothing that belongs to it is taken any more. */
  isSealed: z.boolean().default(false),
  sessions: z.array(SessionStatus).max(256),
  services: z.array(ServiceStatus).max(256),
  memory: z.array(MemoryUse).max(8).default([]),
});
export type Health = z.infer<typeof Health>;

/** boxd → host on the control connection. */
export const ControlMessage = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("response"), id: z.int(), result: z.unknown() }),
  z.strictObject({
    type: z.literal("error"),
    id: z.int(),
    code: z.string().max(64),
    message: z.string().max(4096),
  }),
  /** Sent at connect, every few seconds, and whenever something in it changed state. */
  z.strictObject({ type: z.literal("health"), health: Health }),
  z.strictObject({ type: z.literal("session.ended"), session: SessionStatus }),
  z.strictObject({ type: z.literal("service.changed"), service: ServiceStatus }),
]);
export type ControlMessage = z.infer<typeof ControlMessage>;
