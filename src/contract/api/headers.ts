/** On every answer of the daemon, so that a CLI of another version can say so without asking. */
export const versionHeader = "agentbox-version";

/** The half of a session that the browser keeps, out of reach of scripts. */
export const sessionCookie = "agentbox-session";
/** Binds a sign-in that has begun to the browser it began in. */
export const signInCookie = "agentbox-sign-in";
/** The half of a session that the page keeps, out of reach of other servers on the same host. */
export const sessionKeyHeader = "agentbox-key";
/** The WebSocket subprotocol of a page; `key.<key>` is offered beside it, because a page can set no header there. */
export const socketProtocol = "agentbox";
