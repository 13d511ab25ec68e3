/**
 * The page's half of a session. The other half is a cookie that no script can read; neither is worth anything alone,
 * because a cookie goes to every port of a host and a key can be read by a script.
 */
const storageKey = "agentbox-key";
const keyHeader = "agentbox-key";

const getKey = (): string | undefined => localStorage.getItem(storageKey) ?? undefined;
export const keepKey = (key: string): void => localStorage.setItem(storageKey, key);
export const forgetKey = (): void => localStorage.removeItem(storageKey);

export const keyHeaders = (): Record<string, string> => {
  const key = getKey();
  return key === undefined ? {} : { [keyHeader]: key };
};

/** A credential in the form that a WebSocket can carry, which has no headers of its own. */
export const keyProtocols = (): string[] => ["agentbox", `key.${getKey() ?? ""}`];

/** The code of a one-time link, taken out of the address so that it stays in no history. */
export function takeLinkCode(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get("link") ?? undefined;
  if (code !== undefined) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

/** Turns a one-time code into a session; false when it was used or is too old. */
export async function claimLink(code: string): Promise<boolean> {
  const answer = await fetch("/auth/claim", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  });
  if (!answer.ok) return false;
  const { key } = (await answer.json()) as { key: string };
  keepKey(key);
  return true;
}
