/**
 * Finds many byte patterns in one pass, every occurrence of each, overlapping ones too. It looks at blocks of two bytes
 * and jumps by what the shortest pattern allows, so a long body costs little and no body costs more than its length.
 */
const tableBits = 13;
const tableMask = (1 << tableBits) - 1;
const maxShift = 255;

const blockOf = (first: number, second: number): number => ((first << 5) ^ second) & tableMask;

export class PatternSet {
  readonly #isEmpty: boolean;
  readonly #longest: number;
  readonly #window: number;
  /** How far the window may move when its last two bytes are these; 0: a pattern may begin here. */
  readonly #shifts: Uint8Array;
  readonly #candidates = new Map<number, Buffer[]>();
  readonly #byFirst = new Map<number, Buffer[]>();

  /** Patterns of fewer than two bytes are ignored. */
  constructor(patterns: Iterable<Buffer>) {
    const unique = new Map<string, Buffer>();
    for (const pattern of patterns) if (pattern.length >= 2) unique.set(pattern.toString("latin1"), pattern);
    const lengths = [...unique.values()].map(({ length }) => length);
    this.#isEmpty = lengths.length === 0;
    this.#longest = Math.max(0, ...lengths);
    this.#window = this.#isEmpty ? 2 : Math.min(maxShift, ...lengths);
    this.#shifts = new Uint8Array(1 << tableBits).fill(this.#window - 1);
    for (const pattern of unique.values()) this.#add(pattern);
  }

  #add(pattern: Buffer): void {
    const last = this.#window - 1;
    for (let end = 1; end <= last; end += 1) {
      const block = blockOf(pattern[end - 1]!, pattern[end]!);
      this.#shifts[block] = Math.min(this.#shifts[block]!, last - end);
      if (end === last) push(this.#candidates, block, pattern);
    }
    push(this.#byFirst, pattern[0]!, pattern);
  }

  /** Calls back with the bounds of every occurrence, in the order of where they begin; true ends the search. */
  search(bytes: Buffer, onHit: (start: number, end: number) => boolean | undefined): void {
    if (this.#isEmpty) return;
    const { length } = bytes;
    const shifts = this.#shifts;
    const offset = this.#window - 1;
    let end = offset;
    while (end < length) {
      const block = ((bytes[end - 1]! << 5) ^ bytes[end]!) & tableMask;
      const shift = shifts[block]!;
      if (shift > 0) {
        end += shift;
        continue;
      }
      const start = end - offset;
      for (const pattern of this.#candidates.get(block) ?? [])
        if (isAt(bytes, pattern, start) && onHit(start, start + pattern.length) === true) return;
      end += 1;
    }
  }

  /**
   * The start of the first piece that reaches to the end and that more bytes could complete to a pattern;
   * `bytes.length` without one. A piece of at most `slackOf(pattern)` bytes does not count.
   */
  openEnd(bytes: Buffer, slackOf: (pattern: Buffer) => number = () => 0): number {
    const { length } = bytes;
    for (let start = Math.max(0, length - this.#longest + 1); start < length; start += 1) {
      for (const pattern of this.#byFirst.get(bytes[start]!) ?? []) {
        const rest = length - start;
        if (rest >= pattern.length || rest <= slackOf(pattern)) continue;
        if (pattern.compare(bytes, start, length, 0, rest) === 0) return start;
      }
    }
    return length;
  }
}

const isAt = (bytes: Buffer, pattern: Buffer, start: number): boolean =>
  start + pattern.length <= bytes.length && pattern.compare(bytes, start, start + pattern.length) === 0;

function push(map: Map<number, Buffer[]>, key: number, pattern: Buffer): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [pattern]);
  else list.push(pattern);
}
