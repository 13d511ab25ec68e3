/** Pages of a log for one who sees some boxes only: of each of these, and of no earlier box that had the same name. */
import { noSuchBox } from "../context.ts";
import type { Using } from "../using.ts";
import type { Visibility } from "./visibility.ts";

export interface PageQuery {
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly box?: string | undefined;
  readonly limit: number;
  readonly newestFirst?: boolean | undefined;
}

interface BoxRecord {
  readonly id: number;
  readonly box?: string | undefined;
  readonly incarnation?: string | undefined;
}

/** A box whose past is longer than this is looked through no further in one answer. */
const maxPages = 20;

/** Names of the boxes that are meant: one, or all that are seen. */
export async function visibleNames(
  core: Using<"store">,
  access: Visibility,
  box?: string,
): Promise<readonly string[]> {
  if (box !== undefined) {
    if (!(await access.sees(box))) throw noSuchBox(box);
    return [box];
  }
  const boxes = await core.ports.store.listBoxes();
  return boxes
    .filter(({ name, incarnation }) => access.shows({ box: name, incarnation }))
    .map(({ name }) => name);
}

export async function listVisible<T extends BoxRecord>(
  core: Using<"store">,
  access: Visibility,
  query: PageQuery,
  fetch: (query: PageQuery) => Promise<readonly T[]>,
): Promise<T[]> {
  if (access.isOfHost) return [...(await fetch(query))];
  const names = await visibleNames(core, access, query.box);
  const found = await Promise.all(names.map((box) => collect(access, { ...query, box }, fetch)));
  const inOrder = found.flat().sort((one, other) => one.id - other.id);
  return (query.newestFirst ? inOrder.reverse() : inOrder).slice(0, query.limit);
}

async function collect<T extends BoxRecord>(
  access: Visibility,
  query: PageQuery,
  fetch: (query: PageQuery) => Promise<readonly T[]>,
): Promise<T[]> {
  const shown: T[] = [];
  let next = query;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const page = await fetch(next);
    const last = page.at(-1);
    // A log that cannot go on from there has given all it can.
    if (last !== undefined && last.id === (next.newestFirst ? next.before : next.after)) break;
    shown.push(...page.filter((record) => access.shows(record)));
    if (!last || page.length < query.limit || shown.length >= query.limit) break;
    next = query.newestFirst ? { ...query, before: last.id } : { ...query, after: last.id };
  }
  return shown;
}
