/** Digests of large files that seldom change, remembered for as long as the kernel says the file is the same. */
import { stat } from "node:fs/promises";

export class DigestMemo {
  readonly #known = new Map<string, string>();

  async of(path: string, compute: () => Promise<string>): Promise<string> {
    const { size, mtimeNs, ctimeNs, ino } = await stat(path, { bigint: true });
    const stamp = [path, size, mtimeNs, ctimeNs, ino].join(" ");
    const known = this.#known.get(stamp);
    if (known !== undefined) return known;
    const digest = await compute();
    this.#known.clear();
    this.#known.set(stamp, digest);
    return digest;
  }
}
