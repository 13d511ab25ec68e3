import { readFile } from "node:fs/promises";

export interface UserRange {
  readonly firstUid: number;
  readonly count: number;
}

/** Away from people's users, from what distributions hand out, and from the ranges of other container tools. */
const preferred: UserRange = { firstUid: 0x2ab0_0000, count: 65_536 };
/** Below the uid `nobody` (65534) and above systemd's dynamic users, for hosts that are themselves a container. */
const narrow: UserRange = { firstUid: 65_000, count: 500 };

/** Users for the boxes of a root daemon. Inside a container root has only the users its map names. */
export function chooseUserRange(uidMap: string): UserRange {
  const covers = ({ firstUid, count }: UserRange): boolean =>
    uidMap.split("\n").some((line) => {
      const [inside, , length] = line.trim().split(/\s+/).map(Number);
      return (
        inside !== undefined &&
        length !== undefined &&
        inside <= firstUid &&
        firstUid + count <= inside + length
      );
    });
  return covers(preferred) ? preferred : narrow;
}

export const readUserRange = async (): Promise<UserRange> =>
  chooseUserRange(await readFile("/proc/self/uid_map", "utf8"));
