/**
 * The part of a file that is shown, and its kind. SECURITY: decided by its bytes and never by the box's name for it.
 */
export type FileContent =
  | { readonly kind: "text"; readonly lines: readonly string[] }
  | { readonly kind: "image"; readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "binary" };

/** The browser is asked for no more than this of one file. */
export const shownBytes = 1_000_000;
export const imageBytes = 8_000_000;
const lookedAt = 8_192;

const startsWith = (bytes: Uint8Array, signature: readonly number[], at = 0): boolean =>
  signature.every((byte, index) => bytes[at + index] === byte);

/** Pictures that are only pixels; SVG can hold scripts and links, and is shown as the text that it is. */
export function imageType(bytes: Uint8Array): string | undefined {
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png";
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return "image/jpeg";
  if (startsWith(bytes, [0x47, 0x49, 0x46, 0x38])) return "image/gif";
  if (startsWith(bytes, [0x52, 0x49, 0x46, 0x46]) && startsWith(bytes, [0x57, 0x45, 0x42, 0x50], 8))
    return "image/webp";
  return undefined;
}

export function contentOf(bytes: Uint8Array<ArrayBuffer>): FileContent {
  const type = imageType(bytes);
  if (type !== undefined) return { kind: "image", type, bytes };
  if (bytes.subarray(0, lookedAt).includes(0)) return { kind: "binary" };
  const lines = new TextDecoder().decode(bytes.subarray(0, shownBytes)).split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return { kind: "text", lines };
}

export async function collect(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.length;
    if (size >= maxBytes) break;
  }
  const whole = new Uint8Array(Math.min(size, maxBytes));
  let at = 0;
  for (const part of parts) {
    whole.set(part.subarray(0, whole.length - at), at);
    at += part.length;
  }
  return whole;
}
