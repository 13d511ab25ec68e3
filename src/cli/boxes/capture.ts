import type { Client } from "../../client/index.ts";
import type { ExecRequestInput } from "../../contract/api/schemas.ts";
import { waitForEnding } from "../terminal/conversation.ts";
import { commandExitCode } from "../terminal/exit-code.ts";

export interface Captured {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a short command in a box and keeps what it printed. */
export async function capture(client: Client, box: string, request: ExecRequestInput): Promise<Captured> {
  const stream = await client.exec(box, { timeoutMs: 20_000, ...request, stdin: false });
  const decoders = [new TextDecoder(), new TextDecoder()] as const;
  const output = ["", ""];
  stream.onData((chunk, channel) => {
    const at = channel === 2 ? 1 : 0;
    output[at] += decoders[at].decode(chunk, { stream: true });
  });
  try {
    const { exit } = await waitForEnding(stream, { awaitsVerdict: false });
    return { exitCode: commandExitCode(exit), stdout: output[0]!, stderr: output[1]! };
  } finally {
    stream.close();
  }
}
