/**
 * A small internet in a network namespace of its own, or the services of the host the daemon runs on. It ends with the
 * process that started it, and is asked over that process's channel.
 */
import { type Credentials, setCredentials } from "./credentialed.ts";
import { serveDns, setNames, type Zone } from "./dns.ts";
import { allArrivals, forgetArrivals } from "./log.ts";
import { serveEcho, serveRaw, serveSilence } from "./tcp.ts";
import { serveWeb, type WebOptions } from "./web.ts";

export type InternetRequest =
  | {
      readonly do: "serve";
      readonly dns: readonly string[];
      readonly web: WebOptions;
      readonly rawPorts: readonly number[];
      readonly echoPorts: readonly number[];
      readonly silentPorts: readonly number[];
    }
  | { readonly do: "names"; readonly names: Zone }
  | { readonly do: "credentials"; readonly credentials: Credentials }
  | { readonly do: "arrivals" }
  | { readonly do: "forget" };

async function perform(request: InternetRequest): Promise<unknown> {
  switch (request.do) {
    case "serve":
      await serveDns(request.dns);
      await serveWeb(request.web);
      for (const port of request.rawPorts) await serveRaw(port);
      for (const port of request.echoPorts) await serveEcho(port);
      for (const port of request.silentPorts) await serveSilence(port);
      break;
    case "names":
      setNames(request.names);
      break;
    case "credentials":
      setCredentials(request.credentials);
      break;
    case "forget":
      forgetArrivals();
      break;
    case "arrivals":
      break;
  }
  return allArrivals();
}

process.on("message", (message: { id: number; request: InternetRequest }) => {
  perform(message.request).then(
    (result) => process.send?.({ id: message.id, result }),
    (error: Error) => process.send?.({ id: message.id, error: error.message }),
  );
});
process.on("disconnect", () => process.exit(0));
process.send?.({ id: 0 });
