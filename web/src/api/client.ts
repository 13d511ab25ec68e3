import { type Client, createClient } from "../../../src/client/client.ts";
import { browserTransport } from "./transport.ts";

/** Everything the command line can ask the daemon, for the page. */
export const client: Client = createClient(browserTransport);
