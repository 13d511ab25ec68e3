/**
 * Says each notice once for all tabs. Every tab sees every event, also again after a reconnect; whoever gets the lock
 * first looks whether the notice was said, notes it and speaks, and the others find it noted.
 */
interface Locks {
  request(name: string, body: () => Promise<boolean>): Promise<boolean>;
}
type Place = Pick<Storage, "getItem" | "setItem">;

const place = "agentbox-notices-said";
const maxKept = 200;

export async function sayOnce(
  key: string,
  speak: () => void,
  storage: Place = localStorage,
  locks: Locks = navigator.locks,
): Promise<boolean> {
  return locks.request(place, async () => {
    const said = read(storage);
    if (said.includes(key)) return false;
    storage.setItem(place, JSON.stringify([...said, key].slice(-maxKept)));
    speak();
    return true;
  });
}

function read(storage: Place): string[] {
  try {
    const kept: unknown = JSON.parse(storage.getItem(place) ?? "[]");
    return Array.isArray(kept) ? kept.filter((key) => typeof key === "string") : [];
  } catch {
    return [];
  }
}
