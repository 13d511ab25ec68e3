/** The way to a session through the team's provider. Nothing happens by an address alone: the page itself asks. */
import { AgentBoxError } from "../../../src/base/errors.ts";
import { keepKey } from "../api/session.ts";

/** SECURITY: of this tab alone, so that an answer sent to another tab or browser finishes no sign-in there. */
const storageKey = "agentbox-sign-in";

interface Begun {
  readonly secret: string;
  /** Where the person wanted to go. */
  readonly path: string;
}

async function post<T>(path: string, body: object): Promise<T> {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const content = (await answer.json()) as T & {
    error?: { code: string; message: string; hint?: string };
  };
  if (answer.ok) return content;
  throw AgentBoxError.fromBody(content.error ?? { code: "internal.unexpected", message: "No answer." });
}

/** The provider's name, if there is one. */
export const readSignInOptions = (): Promise<{ readonly provider?: string }> => post("/auth/options", {});

export async function beginSignIn(): Promise<void> {
  const { url, secret } = await post<{ url: string; secret: string }>("/auth/begin", {});
  const isCallback = location.pathname === callbackPath;
  const begun: Begun = { secret, path: isCallback ? "/" : location.pathname + location.search };
  sessionStorage.setItem(storageKey, JSON.stringify(begun));
  location.assign(url);
}

export const callbackPath = "/auth/callback";

let finishing: Promise<string> | undefined;

/** Takes what the provider sent back, once, however often the page is drawn. Resolves to where to go. */
export function finishSignIn(): Promise<string> {
  finishing ??= finish();
  return finishing;
}

async function finish(): Promise<string> {
  const answer = new URLSearchParams(location.search);
  // The code must stay in no history.
  history.replaceState(null, "", callbackPath);
  const begun = takeBegun();
  if (begun === undefined)
    throw new AgentBoxError("sign_in.refused", "This sign-in was not started in this tab.", {
      hint: "Begin again, and finish in the same tab.",
    });
  const known = ["code", "state", "iss", "error"].flatMap((name) => {
    const value = answer.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const { key } = await post<{ key: string }>("/auth/finish", {
    ...Object.fromEntries(known),
    secret: begun.secret,
  });
  keepKey(key);
  return begun.path;
}

function takeBegun(): Begun | undefined {
  const text = sessionStorage.getItem(storageKey);
  sessionStorage.removeItem(storageKey);
  if (text === null) return undefined;
  const { secret, path } = JSON.parse(text) as Begun;
  // SECURITY: a path of ours, and never another site.
  return { secret, path: path.startsWith("/") && !path.startsWith("//") ? path : "/" };
}
