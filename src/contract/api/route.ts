/**
 * One route of the API, as data. Nothing here is zod: the page and every command read the table of routes, and load no
 * schemas for it. Schemas stand in `schemas/` and are named.
 */
import type { z } from "zod";
import type { Harm } from "../access/harms.ts";
import type { Limit } from "../access/limits/limit.ts";
import type { Scope } from "../access/scope-names.ts";
import type * as schemas from "./schemas/index.ts";

type Schemas = {
  [N in keyof typeof schemas as (typeof schemas)[N] extends z.ZodType ? N : never]: (typeof schemas)[N];
};
export type SchemaName = keyof Schemas;

/**
 * `anyone`: every caller with a credential. `member`: every caller but guests. `visible`: every caller with a credential,
 * and the handler shows and changes only what they see. `look`, `work`, `own`: that role on the route's {box}. `host`:
 * the owner of the host and admins.
 */
export type Reach = "anyone" | "member" | "visible" | "look" | "work" | "own" | "host";

/** Who may use a route. SECURITY: this is what stands between a guest of one box and the host. */
export interface RouteAccess {
  /** The scope that a token needs; `none`: any credential will do. */
  readonly scope: Scope | "none";
  readonly reach: Reach;
}

export interface Route extends RouteAccess {
  readonly method: "GET" | "POST" | "DELETE";
  /** Parameters in braces become the first arguments of the client's method. */
  readonly path: string;
  readonly summary: string;
  readonly query?: SchemaName;
  readonly body?: SchemaName;
  /** Without it the answer is an empty object, or what `media` says. */
  readonly response?: SchemaName;
  /** The field of the answer that the client's method returns, where it does not return all of it. */
  readonly unwrap?: string;
  /** The kind of answer, where it is not one JSON document; `lines`: one document a line, each as `response` says. */
  readonly media?: "text" | "stream" | "lines" | "websocket";
  /** First message of a WebSocket. */
  readonly opens?: SchemaName;
  /** A status besides 200 that comes with the answer and not with an error. */
  readonly also?: number;
  /** It takes as long as the work of a box: the client does not give up. */
  readonly isSlow?: true;
  /** The most that the thief of a credential can do with it; docs/sign-in.md shows this for each scope. */
  readonly harms: readonly Harm[];
  /** Parameters that take more than the route itself; the daemon refuses by them. */
  readonly limits?: readonly Limit[];
}

/** Type of a field of a route: as it is sent (`in`), or as it was checked (`out`). */
type FieldOf<E, F extends string, As extends "in" | "out"> =
  E extends Record<F, infer N extends SchemaName>
    ? Schemas[N] extends infer S extends z.ZodType
      ? As extends "in"
        ? z.input<S>
        : z.output<S>
      : never
    : never;

export type QueryOf<E> = FieldOf<E, "query", "out">;
export type BodyOf<E> = FieldOf<E, "body", "out">;
export type SentBodyOf<E> = FieldOf<E, "body", "in">;
export type OpeningOf<E> = FieldOf<E, "opens", "in">;
export type ResponseOf<E> = E extends { response: SchemaName } ? FieldOf<E, "response", "out"> : EmptyAnswer;
/** Text of a URL is checked into numbers and booleans; a caller writes those. */
export type SentQueryOf<E> = Sent<FieldOf<E, "query", "in">, QueryOf<E>>;
type Sent<In, Out> = {
  readonly [K in keyof In]: K extends keyof Out
    ? undefined extends In[K]
      ? Out[K] | undefined
      : Out[K]
    : never;
};
type EmptyAnswer = Record<string, never>;

/** The constraints between the fields of one route. */
interface Agreeing<E> {
  readonly path: string;
  readonly limits?: readonly Limit<BodyOf<E>>[];
  readonly unwrap?: keyof ResponseOf<E>;
}
/** A table of routes in which each agrees with itself; anything else does not compile. */
export type RouteTable<T extends { readonly [R in keyof T]: Agreeing<T[R]> }> = T;
