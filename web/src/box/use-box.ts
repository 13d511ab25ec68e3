import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Box } from "../../../src/contract/box.ts";
import type { BoxSummary } from "../../../src/contract/api/schemas.ts";
import { boxQuery, boxesQuery } from "../api/queries.ts";

/** The name in the address. */
export const useBoxName = (): string => useParams({ strict: false }).name ?? "";

export const useBox = (name: string) => useQuery(boxQuery(name));

/** The line of the list, which has what is counted: changed files, tokens, cost. */
export const useSummary = (name: string): BoxSummary | undefined =>
  useQuery(boxesQuery).data?.find((box) => box.name === name);

/** The fields of the record that the badge needs. */
export const stateFacts = ({ state, run }: Pick<Box, "state" | "run">) => ({
  phase: state.phase,
  agentState: run?.state,
  verdict: run?.verdict,
});
