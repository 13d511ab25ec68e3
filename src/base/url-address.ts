/** The server a URL leads to. */

/** Its port, also where the URL leaves it to the scheme. */
export const portOf = ({ port, protocol }: URL): number =>
  port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);

/** Whether it is this machine: there is no way between on which others could read along. */
export const isLoopback = ({ hostname }: URL): boolean =>
  /^(?:127(?:\.\d+){3}|\[::1\]|localhost)$/.test(hostname);
