import { useQuery } from "@tanstack/react-query";
import type { Checkpoint } from "../../../src/contract/review/checkpoint.ts";
import { client } from "../api/client.ts";
import { Select } from "../parts/field.tsx";
import type { PatchRange } from "./diff/use-patches.ts";

const nameOf = ({ number, name, reason, atMs }: Checkpoint) =>
  `${name ?? `#${number}`} · ${reason} · ${new Date(atMs).toLocaleTimeString()}`;

/** The two states that are compared. */
export function RangePicker({
  box,
  range,
  onChange,
}: {
  box: string;
  range: PatchRange;
  onChange: (range: PatchRange) => void;
}) {
  const { data = [] } = useQuery({
    queryKey: ["review", box, "checkpoints"],
    queryFn: () => client.listCheckpoints(box),
  });
  const options = (word: string) =>
    data.map((checkpoint) => (
      <option key={checkpoint.number} value={String(checkpoint.number)}>
        {word}: {nameOf(checkpoint)}
      </option>
    ));
  const chosen = (value: string) => (value === "" ? undefined : value);
  return (
    <>
      <Select
        aria-label="From"
        value={range.from ?? ""}
        onChange={({ target }) => onChange({ ...range, from: chosen(target.value) })}
      >
        <option value="">From: start</option>
        {options("From")}
      </Select>
      <Select
        aria-label="To"
        value={range.to ?? ""}
        onChange={({ target }) => onChange({ ...range, to: chosen(target.value) })}
      >
        <option value="">To: latest</option>
        {options("To")}
      </Select>
    </>
  );
}
