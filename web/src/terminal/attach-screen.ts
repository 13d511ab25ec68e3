import type { Stream } from "../../../src/client/transport.ts";
import { client } from "../api/client.ts";
import { OutputQueue } from "./output-queue.ts";
import type { TerminalScreen } from "./screen.ts";
import { type ConnectionState, SessionConnection } from "./session-connection.ts";

export interface AttachOptions {
  readonly box: string;
  readonly session: string;
  readonly isReadOnly: boolean;
  /** The session keeps its size, because this is a small picture of it. */
  readonly isCompact: boolean;
  readonly onState: (state: ConnectionState) => void;
  readonly onDropped: (keys: number) => void;
}

/** Ends any escape sequence that the last connection was cut in. */
const cancel = new Uint8Array([0x18]);

/** Joins a screen and a session, until it is closed. */
export function attachScreen(screen: TerminalScreen, options: AttachOptions): SessionConnection {
  const { terminal } = screen;
  const { box, session, isReadOnly, isCompact } = options;
  let current: Stream | undefined;
  let isOld = true;
  const queue = new OutputQueue({
    write: (bytes, written) => terminal.write(bytes, written),
    pause: () => current?.pause(),
    resume: () => current?.resume(),
  });
  /** The old screen stays until there is a newer one. */
  const startAfresh = () => {
    if (!isOld) return;
    isOld = false;
    queue.push(cancel);
    queue.act(() => terminal.reset());
  };
  return new SessionConnection({
    isReadOnly,
    attach: (request) => client.attach(box, session, request),
    events: {
      size: () => (isCompact ? screen.size : screen.ownSize),
      state: options.onState,
      dropped: options.onDropped,
      began(stream) {
        current = stream;
        isOld = true;
        queue.clear();
      },
      sized(size) {
        startAfresh();
        queue.act(() => screen.resize(size));
      },
      data(chunk) {
        startAfresh();
        queue.push(chunk);
      },
    },
  });
}
