/** The query of a request, piece by piece: what is not ours to change keeps every byte. */
export interface QueryPiece {
  /** As it was sent. */
  readonly raw: string;
  readonly name: string;
  readonly value: string;
}

export interface SplitPath {
  readonly path: string;
  /** Undefined: there is no question mark. */
  readonly pieces: readonly QueryPiece[] | undefined;
}

export function splitPath(target: string): SplitPath {
  const mark = target.indexOf("?");
  if (mark < 0) return { path: target, pieces: undefined };
  const query = target.slice(mark + 1);
  return { path: target.slice(0, mark), pieces: query.split("&").map(readPiece) };
}

function readPiece(raw: string): QueryPiece {
  const equals = raw.indexOf("=");
  const name = equals < 0 ? raw : raw.slice(0, equals);
  return { raw, name: decodeLoosely(name), value: equals < 0 ? "" : decodeLoosely(raw.slice(equals + 1)) };
}

/** Every name in a piece: some servers also take `;` for the beginning of another parameter. */
export const namesIn = ({ raw }: QueryPiece): string[] =>
  raw.split(";").map((part) => decodeLoosely(part.split("=", 1)[0]!));

/** Bytes that cannot be decoded stay as they are. The characters of the result are bytes. */
export const decodePercent = (text: string): string =>
  text.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/** The same as a form is read, where a plus is a space. */
export const decodeLoosely = (text: string): string => decodePercent(text.replaceAll("+", " "));

/** The target with one parameter more, in place of `replaced` where there is one. */
export function withParameter(
  { path, pieces = [] }: SplitPath,
  name: string,
  value: string,
  replaced: QueryPiece | undefined,
): string {
  const own = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  const sent = pieces.filter(({ raw }) => raw !== "" || pieces.length > 1);
  const kept = sent.map((piece) => (piece === replaced ? own : piece.raw));
  return `${path}?${(replaced === undefined ? [...kept, own] : kept).join("&")}`;
}
