/** The mounts of this host, as the kernel reports them. */
import { readFile } from "node:fs/promises";

/** Mount points at or below a directory, the deepest first, in the order in which they can be unmounted. */
export async function mountsBelow(directory: string): Promise<readonly string[]> {
  const table = await readFile("/proc/self/mountinfo", "utf8");
  return table
    .split("\n")
    .map((line) => unescape(line.split(" ")[4] ?? ""))
    .filter((point) => point === directory || point.startsWith(`${directory}/`))
    .reverse();
}

/** The kernel writes spaces, tabs, newlines and backslashes as three octal digits. */
const unescape = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
