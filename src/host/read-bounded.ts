/** Reads a stream to its end, or gives up: an endless sender makes us hold no more than `maxBytes`. */
export async function readBounded(
  stream: AsyncIterable<Uint8Array | string>,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > maxBytes) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
