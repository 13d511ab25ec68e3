/**
 * Where the browser comes back to. The path is always the same, because providers compare it to the letter with what
 * was registered; what cannot be guessed is the state.
 */
export const redirectPath = "/callback";

/** For services that compare the port as well. Below the range of ephemeral ports. */
export const registeredPort = 17_423;

export const redirectUri = (port: number): string => `http://127.0.0.1:${port}${redirectPath}`;
