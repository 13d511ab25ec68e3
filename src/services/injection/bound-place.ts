/** Which binding of a box a request is for: the scheme, host, port, method and path that were agreed to, or none. */
import { matchesHost } from "../../contract/network/host-pattern.ts";
import { permitsPath } from "../../contract/network/path-readings.ts";
import type { SecretBinding, SecretPlace } from "../../contract/secret/binding.ts";
import type { OutgoingRequest } from "../../ports/injection.ts";
import type { Placeholder } from "./placeholder.ts";

/** One place of one binding. */
export interface BoundPlace {
  readonly binding: SecretBinding;
  readonly place: SecretPlace;
  readonly placeholder: Placeholder;
}

/** Every place at this host and port, whatever the method and path: what makes the host a managed one. */
export const placesAt = (all: readonly BoundPlace[], host: string, port: number): readonly BoundPlace[] =>
  all.filter(({ place }) => place.port === port && matchesHost(place.host, host));

const isFor = (
  { place: { scheme, methods } }: BoundPlace,
  request: Pick<OutgoingRequest, "scheme" | "method">,
): boolean => scheme === request.scheme && (methods.length === 0 || methods.includes(request.method));

/** Those of them where the value may go into this request. */
export function placesFor(managed: readonly BoundPlace[], request: OutgoingRequest): readonly BoundPlace[] {
  return managed.filter(
    (one) =>
      isFor(one, request) &&
      // SECURITY: a path with two readings is no bound path.
      (one.place.paths.length === 0 || permitsPath(one.place.paths, request.path) === true),
  );
}

/** Whether a path with two readings keeps it from being said whether a value goes into this request. */
export const isUnclear = (managed: readonly BoundPlace[], request: OutgoingRequest): boolean =>
  request.path !== "*" &&
  managed.some((one) => isFor(one, request) && permitsPath(one.place.paths, request.path) === undefined);

/** The place whose host is named most exactly; `ambiguous` where two bindings name it alike. */
export function choosePlace(places: readonly BoundPlace[]): BoundPlace | "ambiguous" | undefined {
  const exactness = ({ place: { host } }: BoundPlace): number =>
    host.isWildcard ? host.name.length : Number.POSITIVE_INFINITY;
  const best = Math.max(...places.map(exactness));
  const nearest = places.filter((one) => exactness(one) === best);
  const isOne = nearest.every(({ binding }) => binding.name === nearest[0]?.binding.name);
  return isOne ? nearest[0] : "ambiguous";
}
