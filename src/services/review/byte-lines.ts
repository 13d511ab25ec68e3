/** Cuts a stream of bytes at a separator; the pieces are bytes, because a path need not be text. */
export async function* splitBytes(
  chunks: AsyncIterable<Uint8Array>,
  separator: "\n" | "\0",
): AsyncGenerator<Buffer, void> {
  const mark = separator.charCodeAt(0);
  let pending: Buffer[] = [];
  for await (const chunk of chunks) {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let end = rest.indexOf(mark); end !== -1; end = rest.indexOf(mark)) {
      const piece = rest.subarray(0, end);
      yield pending.length === 0 ? piece : Buffer.concat([...pending, piece]);
      pending = [];
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) pending.push(rest);
  }
  if (pending.length > 0) yield Buffer.concat(pending);
}
