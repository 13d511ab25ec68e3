/**
 * Tar archives that depend on names, contents and modes alone: no times, no owners, sorted as they come. Streamed, so
 * that no file is ever held in memory.
 */
import { AgentBoxError } from "../../base/errors.ts";

export type TarItem =
  | { readonly kind: "dir"; readonly path: string }
  | { readonly kind: "link"; readonly path: string; readonly target: string }
  | {
      readonly kind: "file";
      readonly path: string;
      readonly isProgram: boolean;
      readonly bytes: number;
      readonly content: AsyncIterable<Uint8Array>;
    };

const block = 512;
const nameBytes = 100;

export async function* tar(items: AsyncIterable<TarItem> | Iterable<TarItem>): AsyncGenerator<Uint8Array> {
  for await (const item of items) {
    const path = item.kind === "dir" ? `${item.path}/` : item.path;
    const target = item.kind === "link" ? item.target : "";
    if (Buffer.byteLength(target) > nameBytes) yield longName("K", target);
    if (Buffer.byteLength(path) > nameBytes) yield longName("L", path);
    yield headerOf(item, path, target);
    if (item.kind === "file") yield* padded(item.path, item.bytes, item.content);
  }
  yield Buffer.alloc(2 * block);
}

const types = { file: "0", link: "2", dir: "5" } as const;

function headerOf(item: TarItem, path: string, target: string): Buffer {
  const isOpen = item.kind !== "file" || item.isProgram;
  return header({
    path,
    target,
    type: types[item.kind],
    mode: item.kind === "link" ? 0o777 : isOpen ? 0o755 : 0o644,
    bytes: item.kind === "file" ? item.bytes : 0,
  });
}

/** GNU's way to say a name that does not fit: an entry before the entry. */
function longName(type: "K" | "L", text: string): Buffer {
  const content = Buffer.from(`${text}\0`);
  const head = header({ path: "././@LongLink", target: "", type, mode: 0o644, bytes: content.length });
  return Buffer.concat([head, content, Buffer.alloc(padding(content.length))]);
}

interface HeaderFields {
  readonly path: string;
  readonly target: string;
  readonly type: string;
  readonly mode: number;
  readonly bytes: number;
}

function header({ path, target, type, mode, bytes }: HeaderFields): Buffer {
  const head = Buffer.alloc(block);
  Buffer.from(path).copy(head, 0, 0, nameBytes);
  head.write(octal(mode, 8), 100);
  head.write(octal(0, 8), 108);
  head.write(octal(0, 8), 116);
  writeSize(head, bytes);
  head.write(octal(0, 12), 136);
  head.write(" ".repeat(8), 148);
  head.write(type, 156);
  Buffer.from(target).copy(head, 157, 0, nameBytes);
  head.write("ustar  \0", 257);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return head;
}

const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, "0")}\0`;

/** Eleven octal digits end at 8 GiB; beyond that the number is written in binary. */
function writeSize(head: Buffer, bytes: number): void {
  if (bytes < 8 ** 11) {
    head.write(octal(bytes, 12), 124);
    return;
  }
  head.writeUInt8(0x80, 124);
  head.writeBigUInt64BE(BigInt(bytes), 128);
}

const padding = (bytes: number): number => (block - (bytes % block)) % block;

async function* padded(
  path: string,
  bytes: number,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for await (const chunk of content) {
    left -= chunk.length;
    if (left < 0) break;
    yield chunk;
  }
  // The size is in front of the content, so what grew or shrank meanwhile would shift all that follows.
  if (left !== 0) throw new AgentBoxError("image.build_failed", `${path} changed while it was being read.`);
  yield Buffer.alloc(padding(bytes));
}
