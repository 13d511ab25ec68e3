/** A person with a browser, scripted: follows redirects, keeps cookies, fills in every form that is shown. */
import { AgentBoxError } from "../../base/errors.ts";

export class Browser {
  readonly #cookies = new Map<string, string>();
  readonly #login: string;

  constructor(login = "person") {
    this.#login = login;
  }

  /** Agrees to everything; ends at the page after which there is nothing more to do. */
  async agree(url: string): Promise<Response> {
    return this.#walk(url, () => true);
  }

  /** Agrees, but does not go to the callback: the address it was sent to. */
  async agreeUntilCallback(url: string): Promise<URL> {
    let callback: URL | undefined;
    await this.#walk(url, (next) => {
      if (!next.pathname.endsWith("/callback")) return true;
      callback = next;
      return false;
    });
    return callback!;
  }

  /** Presses the button that says no. */
  async decline(url: string): Promise<Response> {
    return this.#walk(url, () => true, { abort: "yes" });
  }

  /** At a provider's own page for it. */
  async signOut(url: string): Promise<Response> {
    return this.#walk(url, () => true, { logout: "yes" });
  }

  async #walk(
    start: string,
    mayGo: (url: URL) => boolean,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    let url = new URL(start);
    let form: URLSearchParams | undefined;
    for (let step = 0; step < 30; step++) {
      const page = await this.#load(url, form);
      const location = page.headers.get("location");
      const html = location === null ? await page.clone().text() : "";
      const next =
        location === null ? formIn(html, this.#login, more) : { action: location, fields: undefined };
      // A person who has said no is asked for another code, and has nothing more to say.
      if (next === undefined || form?.has("abort") === true) return page;
      url = new URL(next.action, url);
      form = next.fields;
      if (!mayGo(url)) return page;
    }
    throw new AgentBoxError("connection.failed", "The sign-in went round in circles.");
  }

  async #load(url: URL, form: URLSearchParams | undefined): Promise<Response> {
    const page = await fetch(url, {
      method: form === undefined ? "GET" : "POST",
      body: form ?? null,
      redirect: "manual",
      headers: { cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
    });
    for (const cookie of page.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (name !== undefined) this.#cookies.set(name, value!);
    }
    return page;
  }
}

function formIn(html: string, login: string, more: Readonly<Record<string, string>>) {
  const [, attributes, inner] = /<form([^>]*)>([\s\S]*?)<\/form>/.exec(html) ?? [];
  const action = /action="([^"]*)"/.exec(attributes ?? "")?.[1];
  if (action === undefined) return undefined;
  const fields = new URLSearchParams({ login, password: "any" });
  for (const [tag] of inner!.matchAll(/<input[^>]*>/g)) {
    const name = /name="([^"]*)"/.exec(tag)?.[1];
    const value = /value="([^"]*)"/.exec(tag)?.[1];
    if (name !== undefined && value !== undefined) fields.set(name, value);
  }
  if (html.includes("deviceConfirmForm") || html.includes("op.logoutForm"))
    for (const [name, value] of Object.entries(more)) fields.set(name, value);
  return { action, fields };
}
