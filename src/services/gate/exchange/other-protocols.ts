/**
 * Refusals in protocols that are not HTTP and have a message for it, so that ssh and psql say why instead of
 * "connection closed". Nothing that the program sends is passed on; every other protocol is just closed.
 */
import type { Duplex } from "node:stream";
import type { Heard } from "../arrivals/first-bytes.ts";

const patienceMs = 2_000;
const maxStartupBytes = 10_000;

/** Says the line in the program's protocol where there is a way, and closes the connection. */
export async function refuseInItsProtocol(client: Duplex, heard: Heard, line: string): Promise<void> {
  const bytes = heard.kind === "speech" ? heard.bytes : Buffer.alloc(0);
  if (bytes.subarray(0, 8).equals(sshGreeting)) return end(client, sshDisconnect(line));
  if (!isPostgresStart(bytes)) return void client.destroy();
  // "No" to encryption is one byte; the client then says what it wanted to say inside it.
  if (asksForEncryption(bytes)) {
    client.write("N");
    if (!(await hearsMore(client, bytes.length))) return void client.destroy();
  }
  end(client, postgresError(line));
}

function end(client: Duplex, words: Buffer): void {
  client.resume();
  const timer = setTimeout(() => client.destroy(), patienceMs).unref();
  client.once("close", () => clearTimeout(timer));
  client.end(words, () => client.destroy());
}

const sshGreeting = Buffer.from("SSH-2.0-");

/** RFC 4253: a version line, then an unencrypted packet that holds SSH_MSG_DISCONNECT (1) "by application" (11). */
function sshDisconnect(line: string): Buffer {
  const payload = Buffer.concat([Buffer.from([1, 0, 0, 0, 11]), lengthAndText(line), lengthAndText("")]);
  // A packet is a multiple of eight with its own length in front, and has four bytes of padding at least.
  const padding = 8 - ((payload.length + 5) % 8) + (8 - ((payload.length + 5) % 8) < 4 ? 8 : 0);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(payload.length + padding + 1);
  head.writeUInt8(padding, 4);
  return Buffer.concat([Buffer.from("SSH-2.0-AgentBox\r\n"), head, payload, Buffer.alloc(padding)]);
}

function lengthAndText(text: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(text));
  return Buffer.concat([length, Buffer.from(text)]);
}

const postgresVersion3 = 196_608;
const sslRequest = 80_877_103;
const gssRequest = 80_877_104;

const codeOf = (bytes: Buffer): number => (bytes.length >= 8 ? bytes.readUInt32BE(4) : 0);
const asksForEncryption = (bytes: Buffer): boolean => [sslRequest, gssRequest].includes(codeOf(bytes));

/** A start-up packet of PostgreSQL begins with its own length and a number that nothing else begins with. */
const isPostgresStart = (bytes: Buffer): boolean =>
  bytes.length >= 8 &&
  bytes.readUInt32BE(0) <= maxStartupBytes &&
  (asksForEncryption(bytes) || codeOf(bytes) === postgresVersion3);

/** An ErrorResponse: severity, the code for a rejected connection, and the message. */
function postgresError(line: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C08004\0M${line}\0\0`);
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeUInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

/** Waits until more has come than was read before; what was put back comes first. */
function hearsMore(client: Duplex, known: number): Promise<boolean> {
  return new Promise((resolve) => {
    let length = 0;
    const finish = (hasMore: boolean): void => {
      clearTimeout(timer);
      client.off("data", take).off("close", gone).off("end", gone);
      resolve(hasMore);
    };
    const timer = setTimeout(() => finish(false), patienceMs).unref();
    const gone = (): void => finish(false);
    const take = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > known) finish(true);
    };
    client.on("data", take).on("close", gone).on("end", gone).resume();
  });
}
