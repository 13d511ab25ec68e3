/**
 * boxd without a box: dials the link, speaks the real protocol, reconnects when the host comes back, and knows a few
 * built-in commands. A daemon cannot tell the difference until it looks for a process.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { backoffMs } from "../../../base/backoff.ts";
import { AgentBoxError, toAgentBoxError } from "../../../base/errors.ts";
import {
  type ControlRequest,
  type ExecOp,
  type Health,
  linkProtocol,
  type StreamInput,
  type StreamOp,
} from "../../../contract/link/messages.ts";
import { startBuiltin } from "./builtins.ts";
import { dial, type LinkConnection } from "./link-connection.ts";
import { SimulatedSessions } from "./sessions.ts";

const noFiles = "The memory runtime has no files.";

type Request = Extract<ControlRequest, { type: "request" }>;

export interface SimulatedBoxd {
  pause(): void;
  resume(): void;
  stop(): void;
}

export function startSimulatedBoxd(linkDir: string, ended: () => void): SimulatedBoxd {
  const path = join(linkDir, "link.sock");
  const boot = randomBytes(8).toString("hex");
  const startedAt = performance.now();
  const streams = new Set<LinkConnection>();
  let control: LinkConnection | undefined;
  let attempt = 0;
  let isStopped = false;
  let isSealed = false;
  let retry: NodeJS.Timeout | undefined;
  const sessions = new SimulatedSessions((session) => control?.send({ type: "session.ended", session }));

  const health = (): Health => ({
    uptimeMs: performance.now() - startedAt,
    idleMs: 0,
    rssBytes: 0,
    processes: 1 + sessions.list().filter(({ state }) => state === "running").length,
    sessions: sessions.list(),
    services: [],
    memory: [],
    isSealed,
  });

  const held: Record<string, string> = {};
  const answer = (request: Request): unknown => {
    switch (request.method) {
      case "health":
        return health();
      case "session.start":
        return sessions.start(request.params.session, request.params.spec);
      case "session.input":
        sessions.input(request.params.session, Buffer.from(request.params.text));
        return {};
      case "session.signal":
        sessions.signal(request.params.session, request.params.signal);
        return {};
      case "seal":
        isSealed = true;
        return health();
      case "secrets.put":
        if (isSealed) throw new AgentBoxError("box.wrong_phase", "The box is sealed: its boot is over.");
        if (request.params.files.length > 0) throw new AgentBoxError("runtime.unsupported", noFiles);
        Object.assign(held, request.params.env);
        return {};
      case "network.ports":
      case "shutdown":
        break;
    }
    return {};
  };

  const onControl = (message: ControlRequest | { type: "welcome" | "refused" }): void => {
    if (message.type === "welcome") {
      attempt = 0;
      control?.send({ type: "health", health: health() });
    } else if (message.type === "open") {
      openStream(path, message.id, message.op, { sessions, streams, held });
    } else if (message.type === "request") {
      try {
        control?.send({ type: "response", id: message.id, result: answer(message) });
      } catch (error) {
        const { code, message: sentence } = toAgentBoxError(error);
        control?.send({ type: "error", id: message.id, code, message: sentence });
      }
      if (message.method === "shutdown") setImmediate(ended);
    }
  };

  const connectControl = (): void => {
    control = dial(
      path,
      { role: "control", protocol: linkProtocol, boot, version: "memory" },
      {
        json: (message) => onControl(message as ControlRequest),
        closed() {
          if (isStopped) return;
          retry = setTimeout(connectControl, backoffMs(attempt++, { firstMs: 20, maxMs: 1000 }));
          retry.unref();
        },
      },
    );
  };
  connectControl();

  return {
    pause: () => control?.pause(),
    resume: () => control?.resume(),
    stop() {
      isStopped = true;
      clearTimeout(retry);
      sessions.endAll();
      control?.end();
      for (const stream of streams) stream.destroy();
    },
  };
}

interface BoxdState {
  readonly sessions: SimulatedSessions;
  readonly streams: Set<LinkConnection>;
  readonly held: Readonly<Record<string, string>>;
}

function openStream(path: string, id: string, op: StreamOp, { sessions, streams, held }: BoxdState): void {
  let onInput = (_message: StreamInput): void => undefined;
  let onData = (_chunk: Uint8Array): void => undefined;
  let onEof = (): void => undefined;
  const connection = dial(
    path,
    { role: "stream", protocol: linkProtocol, id },
    {
      json: (message) => onInput(message as StreamInput),
      data: (chunk) => onData(chunk),
      eof: () => onEof(),
      closed: () => streams.delete(connection),
    },
  );
  streams.add(connection);
  const fail = (error: unknown): void => {
    const { code, message } = toAgentBoxError(error);
    connection.send({ type: "failed", code, message });
    connection.end();
  };
  switch (op.kind) {
    case "exec": {
      const handlers = runExec(op, connection, held);
      if (handlers) ({ onInput, onData, onEof } = handlers);
      break;
    }
    case "follow":
    case "attach": {
      const session = op.kind === "attach" ? op.session : op.source;
      const offset = op.kind === "follow" ? op.offset : 0;
      connection.send(op.kind === "follow" ? { type: "offset", offset } : { type: "started" });
      if (op.kind === "attach" && !op.readOnly) onData = (chunk) => sessions.input(session, chunk);
      sessions
        .watch(session, offset, (chunk) => connection.data(chunk))
        .then(({ exitCode: code, signal }) => {
          connection.send(
            op.kind === "follow" ? { type: "end" } : { type: "exit", code, signal, timedOut: false },
          );
          connection.end();
        })
        .catch(fail);
      break;
    }
    case "files.read":
    case "files.write":
    case "files.list":
    case "files.slice":
    case "port.open":
    case "ports.list":
      connection.send({
        type: "failed",
        code: "runtime.unsupported",
        message: noFiles,
      });
      connection.end();
      break;
  }
}

interface ExecHandlers {
  readonly onInput: (message: StreamInput) => void;
  readonly onData: (chunk: Uint8Array) => void;
  readonly onEof: () => void;
}

function runExec(
  op: ExecOp,
  connection: LinkConnection,
  held: Readonly<Record<string, string>>,
): ExecHandlers | undefined {
  const early: Uint8Array[] = [];
  let write = (chunk: Uint8Array): void => void early.push(chunk);
  const builtin = startBuiltin(op.argv, (chunk) => write(chunk), { ...held, ...op.env });
  if (builtin === undefined) {
    connection.send({
      type: "failed",
      code: "exec.not_found",
      message: `There is no command "${op.argv[0]}".`,
    });
    connection.end();
    return undefined;
  }
  connection.send({ type: "started" });
  write = (chunk) => connection.data(chunk);
  for (const chunk of early) write(chunk);
  let timedOut = false;
  const timer =
    op.timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          timedOut = true;
          builtin.kill("KILL");
        }, op.timeoutMs);
  void builtin.exit.then(({ code, signal }) => {
    clearTimeout(timer);
    connection.send({ type: "exit", code, signal, timedOut });
    connection.end();
  });
  return {
    onInput: (message) => message.type === "signal" && builtin.kill(message.signal),
    onData: (chunk) => builtin.input(chunk),
    onEof: () => builtin.endInput(),
  };
}
