import { useQuery } from "@tanstack/react-query";
import type { RouteResponse } from "../../../src/contract/api/routes.ts";
import type { Scope } from "../../../src/contract/access/scope-names.ts";
import type { BoxRole } from "../../../src/contract/access/principal.ts";
import { boxesQuery, meQuery } from "./queries.ts";

export type Me = RouteResponse<"getMe">;

export const useMe = (): Me | undefined => useQuery(meQuery).data;

/** Whether to show a button; the daemon decides again. */
export const useMay = (scope: Scope): boolean => useMe()?.scopes.includes(scope) ?? false;

const order: readonly BoxRole[] = ["look", "work", "own"];

/** Whether the person may do what needs this role on a box. */
export function useMayOn(box: string, needed: BoxRole): boolean {
  const role = useQuery(boxesQuery).data?.find(({ name }) => name === box)?.role ?? "own";
  return order.indexOf(role) >= order.indexOf(needed);
}
