/** A parameter that takes more than its route, and who may give it. */

/**
 * `look`: a person who has looked, or a token made for trust. `trust`: the owner, an admin, or a token made for it.
 * `export`: the owner at the daemon's socket, or a token made for it. `socket`: only the owner at the socket.
 */
export type Need = "look" | "trust" | "export" | "socket";

export interface Limit<B = never> {
  /** As in the body; of a route that is limited as a whole, `*`. */
  readonly parameter: string;
  readonly needs: Need;
  /** The refused action, as in "to …". */
  readonly what: string;
  /** How the owner does it. */
  readonly instead: string;
  /** Absent where only the handler can tell, because it depends on more than the body. */
  isAsked?(body: B): boolean;
}
