/** The three WebSocket routes: run a command, join a session, copy files. */
import type { WebSocket } from "ws";
import type { z } from "zod";
import { AgentBoxError } from "../../base/errors.ts";
import { AttachRequest, ExecRequest, FilesRequest, type StreamAnswer } from "../../contract/api/schemas.ts";
import { ConnectPortRequest } from "../../contract/api/schemas/files-and-ports.ts";
import type { StreamOutput } from "../../contract/link/messages.ts";
import { includesRole } from "../../contract/access/principal.ts";
import type { Visibility } from "../../core/access/visibility.ts";
import type { LookParts, Using } from "../../core/using.ts";
import { explainEnd } from "../../core/exec/explain-end.ts";
import { afterMain, openStream } from "../../core/exec/run-in-box.ts";
import { refusedInput } from "../refused-input.ts";
import { Inbox, relay, sendAnswer } from "./socket-stream.ts";

type Exit = Extract<StreamOutput, { type: "exit" }>;
interface StreamEntry {
  readonly access: Visibility;
  /** Throws when the box that the caller was let in for is gone. */
  readonly requireSame: () => Promise<void>;
}

type StreamHandler = (
  core: Using<LookParts | "egressLog" | "report">,
  socket: WebSocket,
  params: Readonly<Record<string, string>>,
  entry: StreamEntry,
) => Promise<void>;

const requestTimeoutMs = 10_000;

async function readRequest<S extends z.ZodType>(
  socket: WebSocket,
  inbox: Inbox,
  schema: S,
  { requireSame }: StreamEntry,
): Promise<z.output<S>> {
  let message: unknown;
  try {
    message = await inbox.first(socket, requestTimeoutMs);
  } catch (error) {
    throw new AgentBoxError(
      "input.invalid",
      `The stream request was not understood: ${(error as Error).message}.`,
    );
  }
  await requireSame();
  const parsed = schema.safeParse(message);
  if (parsed.success) return parsed.data;
  throw refusedInput(parsed.error, "request");
}

const exec: StreamHandler = async (core, socket, { box: name }, entry) => {
  const inbox = new Inbox(socket);
  const { access } = entry;
  const { afterMain: rule, stdin, ...request } = await readRequest(socket, inbox, ExecRequest, entry);
  // SECURITY: what follows a command may be the end of the box, which only its owner decides.
  if (rule !== undefined && rule !== "keep" && !includesRole(await access.roleOn(name!), "own"))
    throw new AgentBoxError("access.forbidden", "Only the owner of a box decides what is left of it.");
  const { box, stream } = await openStream(core, name!, { kind: "exec", ...request });
  core.background(
    "noting a command",
    core.note("exec.started", box, { argv: request.argv.slice(0, 32).map((arg) => arg.slice(0, 256)) }),
  );
  if (!stdin) stream.endInput();
  let exit: Exit | undefined;
  const noted = (message: StreamOutput): StreamAnswer => {
    if (message.type === "exit") exit = message;
    return answerTo(message);
  };
  await relay(socket, inbox, stream, noted, (error) => explainEnd(core, box, error));
  const facts = { code: exit?.code ?? null, signal: exit?.signal ?? null, timedOut: exit?.timedOut ?? false };
  core.background("noting a command", core.note("exec.ended", box, facts));
  if (rule)
    sendAnswer(socket, { type: "finished", ...(await afterMain(core, box, rule, exit?.code ?? undefined)) });
};

/** Whether the caller may do more than look: by their role on the box and by what their credential is for. */
const mayWork = async (access: Visibility, box: string): Promise<boolean> =>
  access.scopes.includes("work") && (access.isOfHost || includesRole(await access.roleOn(box), "work"));

const attach: StreamHandler = async (core, socket, { box: name, session }, entry) => {
  const inbox = new Inbox(socket);
  const { access } = entry;
  const asked = await readRequest(socket, inbox, AttachRequest, entry);
  // SECURITY: decided here, not by the client's request; a caller who may only look types nothing.
  const request = { ...asked, readOnly: asked.readOnly || !(await mayWork(access, name!)) };
  const { box, stream } = await openStream(core, name!, { kind: "attach", session: session!, ...request });
  core.background(
    "noting a viewer",
    core.note("session.attached", box, { session, readOnly: request.readOnly }),
  );
  await relay(socket, inbox, stream, answerTo, (error) => explainEnd(core, box, error));
  core.background("noting a viewer", core.note("session.detached", box, { session }));
};

const files: StreamHandler = async (core, socket, { box: name }, entry) => {
  const inbox = new Inbox(socket);
  const request = await readRequest(socket, inbox, FilesRequest, entry);
  const { box, stream } = await openStream(core, name!, { kind: `files.${request.op}`, path: request.path });
  let summary: { entries?: number | undefined; bytes?: number | undefined } = {};
  await relay(socket, inbox, stream, (message) => {
    if (message.type === "end") summary = { entries: message.entries, bytes: message.bytes };
    return answerTo(message);
  });
  core.background(
    "noting a copy",
    core.note("files.copied", box, { op: request.op, path: request.path, ...summary }),
  );
};

const connectPort: StreamHandler = async (core, socket, { box: name }, entry) => {
  const inbox = new Inbox(socket);
  const { port } = await readRequest(socket, inbox, ConnectPortRequest, entry);
  const { box, stream } = await openStream(core, name!, { kind: "port.open", port });
  core.background("noting a connection", core.note("port.connected", box, { port }));
  await relay(socket, inbox, stream, answerTo);
};

const answerTo = (message: StreamOutput): StreamAnswer =>
  message.type === "failed" ? { type: "error", error: failureBody(message) } : message;

/** A failure that boxd reports, in the form of all other errors. The text comes from the box. */
function failureBody({ code, message }: { code: string; message: string }) {
  return AgentBoxError.fromBody({ code, message }).toBody();
}

export const streamHandlers = { exec, attach, files, connectPort } as const;
export type StreamRoute = keyof typeof streamHandlers;
export const isStreamRoute = (name: string): name is StreamRoute => Object.hasOwn(streamHandlers, name);
