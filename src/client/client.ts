/** The typed client of the daemon's API: one method for each route of the table, named as the route. Runs in a browser, too. */
import type { OpeningOf, Route } from "../contract/api/route.ts";
import {
  type RouteBodyInput,
  type RouteName,
  type RouteQueryInput,
  type RouteResponse,
  type Routes,
  routeNames,
  routeTable,
  routes,
} from "../contract/api/routes.ts";
import type { BoxEvent } from "../contract/events.ts";
import { type Answer, type Stream, type Transport, errorFromAnswer } from "./transport.ts";

/** One argument for each parameter of the path; questions and comments are known by their number. */
type PathArguments<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? [Name extends "approval" | "comment" ? number : string, ...PathArguments<Rest>]
  : [];

type Input<R extends RouteName> = Routes[R] extends { query: string }
  ? RouteQueryInput<R>
  : Routes[R] extends { opens: string }
    ? OpeningOf<Routes[R]>
    : Routes[R] extends { body: string }
      ? RouteBodyInput<R>
      : undefined;
/** The query, the body or the first message; left out where it is not needed. */
type InputArguments<R extends RouteName> =
  Input<R> extends undefined
    ? []
    : Routes[R] extends { body: "Empty" }
      ? []
      : Partial<Input<R>> extends Input<R>
        ? [input?: Input<R>]
        : [input: Input<R>];

type Result<R extends RouteName> = Routes[R] extends { media: "lines" }
  ? AsyncGenerator<RouteResponse<R>>
  : Promise<
      Routes[R] extends { media: "websocket" }
        ? Stream
        : Routes[R] extends { media: "stream" }
          ? AsyncIterable<Uint8Array>
          : Routes[R] extends { media: "text" }
            ? string
            : Routes[R] extends { unwrap: infer F extends keyof RouteResponse<R> }
              ? RouteResponse<R>[F]
              : RouteResponse<R>
    >;

type Methods = {
  [R in RouteName]: (
    ...args: [...PathArguments<Routes[R]["path"]>, ...InputArguments<R>, signal?: AbortSignal]
  ) => Result<R>;
};

export interface Client extends Methods {
  /** The events of `listEvents` as they happen, until the loop is left. */
  followEvents(query: RouteQueryInput<"listEvents">, signal?: AbortSignal): AsyncGenerator<BoxEvent>;
}

interface Request {
  readonly path: string;
  readonly input: unknown;
  readonly signal: AbortSignal | undefined;
}

/** Fills the path with the first arguments; the input and the signal follow. */
function readArguments(route: Route, args: readonly unknown[]): Request {
  const rest = [...args];
  const path = route.path.replace(/\{\w+\}/g, () => encodeURIComponent(String(rest.shift())));
  const takesInput =
    route.query !== undefined ||
    route.opens !== undefined ||
    (route.body !== undefined && route.body !== "Empty");
  const input = takesInput ? rest.shift() : undefined;
  const query = route.query === undefined ? undefined : (input as Query | undefined);
  return { path: withQuery(path, query), input, signal: rest.shift() as AbortSignal | undefined };
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

function withQuery(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}

export function createClient(transport: Transport, options: { timeoutMs?: number } = {}): Client {
  const timeoutMs = options.timeoutMs ?? 120_000;

  const open = async (route: Route, { path, input, signal }: Request): Promise<Answer> => {
    const body = route.body === undefined ? undefined : (input ?? {});
    const isOne = route.media === undefined || route.media === "text";
    const limit = isOne && route.isSlow === undefined ? { timeoutMs } : {};
    const answer = await transport.call({ method: route.method, path, body, signal, ...limit });
    if (answer.status >= 400 && answer.status !== route.also) throw errorFromAnswer(await answer.text());
    return answer;
  };

  const methodOf = (name: RouteName) => {
    const route = routeTable[name];
    const one = async (...args: unknown[]): Promise<unknown> => {
      const request = readArguments(route, args);
      if (route.media === "websocket") {
        const stream = await transport.stream(request.path);
        stream.sendText(JSON.stringify(request.input));
        return stream;
      }
      const answer = await open(route, request);
      if (route.media === "stream") return answer.chunks();
      const text = await answer.text();
      if (route.media === "text") return text;
      const document = JSON.parse(text) as Record<string, unknown>;
      return route.unwrap === undefined ? document : document[route.unwrap];
    };
    const lines = (...args: unknown[]) => readLines(open(route, readArguments(route, args)));
    return route.media === "lines" ? lines : one;
  };

  return {
    ...(Object.fromEntries(routeNames.map((name) => [name, methodOf(name)])) as unknown as Methods),
    followEvents: (query, signal) => {
      const { path } = readArguments(routes.listEvents, [{ ...query, follow: true }]);
      // A stream that stays open: it has no time limit.
      return readEventStream(
        open({ ...routes.listEvents, isSlow: true }, { path, input: undefined, signal }),
      );
    },
  };
}

/** One JSON document a line. */
async function* readLines(opening: Promise<Answer>): AsyncGenerator {
  const decoder = new TextDecoder();
  let pending = "";
  for await (const chunk of (await opening).chunks()) {
    const lines = (pending + decoder.decode(chunk, { stream: true })).split("\n");
    pending = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield JSON.parse(line);
  }
}

/** Server-sent events → our events. Comments (`: keep-alive`) are passed over. */
async function* readEventStream(opening: Promise<Answer>): AsyncGenerator<BoxEvent> {
  const answer = await opening;
  const decoder = new TextDecoder();
  let pending = "";
  for await (const chunk of answer.chunks()) {
    pending += decoder.decode(chunk, { stream: true });
    const blocks = pending.split("\n\n");
    pending = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = block.split("\n").find((line) => line.startsWith("data: "));
      if (data) yield JSON.parse(data.slice(6)) as BoxEvent;
    }
  }
}
