/** Which binding of a box a request is for: the scheme, host, port, method and path that were agreed to, or none. */
import { matchesHost } from "../../contract/network/host-pattern.ts";
import { permitsPath } from "../../contract/network/path-readings.ts";
import type { SecretBinding, SecretDestination } from "../../contract/secret/binding.ts";
import type { OutgoingRequest } from "../../ports/injection.ts";
import type { Placeholder } from "./placeholder.ts";

/** One destination of one binding. */
export interface BoundDestination {
  readonly binding: SecretBinding;
  readonly destination: SecretDestination;
  readonly placeholder: Placeholder;
}

/** Every destination at this host and port, for any method and path: these make the host a managed one. */
export const destinationsAt = (
  all: readonly BoundDestination[],
  host: string,
  port: number,
): readonly BoundDestination[] =>
  all.filter(({ destination }) => destination.port === port && matchesHost(destination.host, host));

const isFor = (
  { destination: { scheme, methods } }: BoundDestination,
  request: Pick<OutgoingRequest, "scheme" | "method">,
): boolean => scheme === request.scheme && (methods.length === 0 || methods.includes(request.method));

/** Those of them where the value may go into this request. */
export function destinationsFor(
  managed: readonly BoundDestination[],
  request: OutgoingRequest,
): readonly BoundDestination[] {
  return managed.filter(
    (one) =>
      isFor(one, request) &&
      // SECURITY: a path with two readings is no bound path.
      (one.destination.paths.length === 0 || permitsPath(one.destination.paths, request.path) === true),
  );
}

/** Whether a path with two readings keeps it from being said whether a value goes into this request. */
export const isUnclear = (managed: readonly BoundDestination[], request: OutgoingRequest): boolean =>
  request.path !== "*" &&
  managed.some(
    (one) => isFor(one, request) && permitsPath(one.destination.paths, request.path) === undefined,
  );

/** The destination whose host is named most exactly; `ambiguous` where two bindings name it alike. */
export function chooseDestination(
  destinations: readonly BoundDestination[],
): BoundDestination | "ambiguous" | undefined {
  const exactness = ({ destination: { host } }: BoundDestination): number =>
    host.isWildcard ? host.name.length : Number.POSITIVE_INFINITY;
  const best = Math.max(...destinations.map(exactness));
  const nearest = destinations.filter((one) => exactness(one) === best);
  const isOne = nearest.every(({ binding }) => binding.name === nearest[0]?.binding.name);
  return isOne ? nearest[0] : "ambiguous";
}
