import { connect } from "node:net";
import type { ServiceSpec } from "../../contract/box.ts";
import { startWithPipes } from "../programs/pipe-program.ts";
import type { ProgramSpec } from "../programs/program.ts";

const portEveryMs = 100;
const commandEveryMs = 500;
const commandLimitMs = 5_000;
/** A pattern is looked for in what was printed last; a line is rarely longer. */
const keptText = 8 * 1024;

export interface ReadinessEvents {
  readonly ready: () => void;
  /** The time-out is over. */
  readonly late: () => void;
}

export interface ReadinessWatch {
  readonly begin: () => void;
  /** The service's output. */
  readonly output: (chunk: Uint8Array) => void;
  readonly cancel: () => void;
}

/** Finds out when a service is ready; says so once, or that it took too long. */
export function watchReadiness(
  spec: ServiceSpec,
  program: ProgramSpec,
  events: ReadinessEvents,
): ReadinessWatch {
  const { ready } = spec;
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const limit = setTimeout(() => finish(events.late), spec.readyTimeoutMs);
  const cancel = () => {
    isOver = true;
    clearTimeout(limit);
    clearTimeout(timer);
  };
  const finish = (tell: () => void) => {
    if (isOver) return;
    cancel();
    tell();
  };
  const repeat = (check: () => Promise<boolean>, everyMs: number) => {
    void check().then((isReady) => {
      if (isReady) finish(events.ready);
      else if (!isOver) timer = setTimeout(() => repeat(check, everyMs), everyMs);
    });
  };
  const look = ready.kind === "log" ? patternIn(ready.pattern) : () => false;
  return {
    begin() {
      if (ready.kind === "none") finish(events.ready);
      if (ready.kind === "port") repeat(() => canConnect(ready.port), portEveryMs);
      if (ready.kind === "command") repeat(() => succeeds({ ...program, argv: ready.argv }), commandEveryMs);
    },
    output(chunk) {
      if (!isOver && look(chunk)) finish(events.ready);
    },
    cancel,
  };
}

function patternIn(pattern: string): (chunk: Uint8Array) => boolean {
  const expression = new RegExp(pattern, "m");
  const decoder = new TextDecoder();
  let text = "";
  return (chunk) => {
    text = (text + decoder.decode(chunk, { stream: true })).slice(-keptText - chunk.length);
    const isFound = expression.test(text);
    text = text.slice(-keptText);
    return isFound;
  };
}

const canConnect = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const say = (isOpen: boolean) => () => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.on("connect", say(true));
    socket.on("error", say(false));
  });

async function succeeds(program: ProgramSpec): Promise<boolean> {
  return await new Promise<boolean>((resolve) => {
    let limit: NodeJS.Timeout | undefined;
    const sink = {
      output: () => undefined,
      drained: () => undefined,
      ended: ({ code }: { code: number | null }) => {
        clearTimeout(limit);
        resolve(code === 0);
      },
    };
    startWithPipes(program, sink).then(
      (check) => {
        check.endInput();
        limit = setTimeout(() => check.signal("SIGKILL"), commandLimitMs);
      },
      () => resolve(false),
    );
  });
}
