/**
 * Tells each notice once for all tabs. Every tab sees every event, also again after a reconnect; the tab that gets the
 * lock first looks whether the notice was told, notes it and tells it, and the others find it noted.
 */
interface Locks {
  request(name: string, body: () => Promise<boolean>): Promise<boolean>;
}

const storageKey = "agentbox-notices-told";
const maxKept = 200;

export async function tellOnce(
  key: string,
  tell: () => void,
  storage: Pick<Storage, "getItem" | "setItem"> = localStorage,
  locks: Locks = navigator.locks,
): Promise<boolean> {
  return locks.request(storageKey, async () => {
    const shownKeys = read(storage);
    if (shownKeys.includes(key)) return false;
    storage.setItem(storageKey, JSON.stringify([...shownKeys, key].slice(-maxKept)));
    tell();
    return true;
  });
}

function read(storage: Pick<Storage, "getItem">): string[] {
  try {
    const kept: unknown = JSON.parse(storage.getItem(storageKey) ?? "[]");
    return Array.isArray(kept) ? kept.filter((key) => typeof key === "string") : [];
  } catch {
    return [];
  }
}
