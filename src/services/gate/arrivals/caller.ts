/** Who speaks on a socket that carries HTTP: the box, and what its connection was judged for. */
import type { BoxEgress } from "../box/box-egress.ts";
import type { Denial } from "../exchange/denial.ts";
import type { Upstreams } from "../servers/upstreams.ts";

export interface Caller {
  readonly egress: BoxEgress;
  readonly upstreams: Upstreams;
  readonly via: "tcp" | "proxy";
  readonly program: string | undefined;
  /** Where the connection goes; undefined on a connection to the proxy, where each request says so itself. */
  readonly target?:
    | { readonly scheme: "http" | "https"; readonly host: string; readonly port: number }
    | undefined;
  /** A person agreed to this connection, so the policy does not ask again for its requests. */
  readonly wasApproved: boolean;
  /** The connection was refused; every request on it gets this answer. */
  readonly refusal?: Denial | undefined;
  /** Requests that are under way on it; a broken one is recorded once, with them. */
  active: number;
}

const callerOf = Symbol("caller");

interface Marked {
  [callerOf]?: Caller;
}

export function markSocket(socket: object, caller: Caller): void {
  (socket as Marked)[callerOf] = caller;
}

export const readCaller = (socket: object): Caller | undefined => (socket as Marked)[callerOf];
