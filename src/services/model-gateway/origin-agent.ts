/**
 * Connections to one model provider, kept for the next request. HTTPS proves its name with a certificate the host
 * trusts; plain HTTP is only used where the provider's own URL says so (inference on this machine or network).
 */
import { type Socket, connect, isIP } from "node:net";
import type { Duplex } from "node:stream";
import { type SecureContext, connect as connectTls } from "node:tls";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { openTunnel } from "../../host/proxy-tunnel.ts";
import { ReusingAgent } from "../../host/sockets/reusing-agent.ts";
import type { ModelLimits } from "./limits.ts";

export interface AgentOptions {
  readonly limits: ModelLimits;
  readonly trust: () => Promise<SecureContext>;
  /** A company's proxy that everything must go through. */
  readonly proxy?: URL | undefined;
}

/** Nothing has been sent, so it may be tried again. The cause is for the host's log: it names addresses of the host. */
export class ConnectFailure extends AgentBoxError {
  constructor(cause: unknown) {
    super("model.unavailable", "The model provider could not be reached.", {
      hint: "This is the provider or the network of the host, not the policy of the box.",
      cause,
    });
  }
}

export class OriginAgent extends ReusingAgent {
  readonly #url: URL;
  readonly #options: AgentOptions;
  #session: Buffer | undefined;

  constructor(url: URL, options: AgentOptions) {
    super({ timeout: options.limits.keepAliveMs, maxFreeSockets: 64 });
    this.#url = url;
    this.#options = options;
  }

  protected override async open(): Promise<Duplex> {
    try {
      return await this.#connect();
    } catch (error) {
      throw new ConnectFailure(error);
    }
  }

  async #connect(): Promise<Duplex> {
    const { limits, trust, proxy } = this.#options;
    const isSecure = this.#url.protocol === "https:";
    const host = this.#url.hostname.replace(/^\[|\]$/g, "");
    const port = Number(this.#url.port || (isSecure ? 443 : 80));
    const plain = proxy
      ? await openTunnel(proxy, { host: this.#url.hostname, port }, limits.connectMs)
      : await settled(connect({ host, port, noDelay: true }), "connect", limits.connectMs);
    if (!isSecure) return plain;
    const secureContext = await trust();
    // SECURITY: the certificate is checked against the name in the provider's URL.
    const secure = connectTls({
      socket: plain,
      host,
      servername: isIP(host) === 0 ? host : "",
      secureContext,
      ALPNProtocols: ["http/1.1"],
      ...omitUndefined({ session: this.#session }),
    });
    secure.on("session", (session: Buffer) => {
      this.#session = session;
    });
    return await settled(secure, "secureConnect", limits.connectMs);
  }
}

/** The socket when it is ready; an error or silence before that ends it. */
function settled<S extends Socket>(socket: S, event: string, timeoutMs: number): Promise<S> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(late()), timeoutMs);
    const fail = (error: Error): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    socket.once("error", fail);
    socket.once(event, () => {
      clearTimeout(timer);
      socket.off("error", fail);
      // The caller that takes it listens too; until then an error must not end the process.
      socket.on("error", () => undefined);
      resolve(socket);
    });
  });
}

const late = (): AgentBoxError => new AgentBoxError("model.unavailable", "no answer in time");
