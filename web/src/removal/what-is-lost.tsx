import { useQueries } from "@tanstack/react-query";
import { unmergedWords } from "../../../src/contract/review/unmerged-words.ts";
import type { UnmergedWork } from "../../../src/contract/review/removed.ts";
import { client } from "../api/client.ts";

/** More than these are counted, and not asked one by one. */
const most = 12;

const words = (work: UnmergedWork): string => {
  if (work.files > 0) return `${unmergedWords(work)} not merged`;
  return work.problem === undefined ? "nothing unmerged" : "its work cannot be looked at now";
};

/** The work that would be lost with these boxes; the daemon is asked while the dialog is open. */
export function WhatIsLost({ names, note }: { names: readonly string[]; note?: string | undefined }) {
  const shown = names.slice(0, most);
  const works = useQueries({
    queries: shown.map((name) => ({
      queryKey: ["unmerged", name],
      queryFn: () => client.readUnmerged(name),
      staleTime: 0,
      gcTime: 0,
      retry: false,
    })),
  });
  const days = works.find(({ data }) => data !== undefined)?.data?.keepDays;
  return (
    <div className="parts-stack">
      <ul className="removal-list" aria-busy={works.some(({ isPending }) => isPending)}>
        {shown.map((name, index) => {
          const work = works[index];
          return (
            <li key={name}>
              <strong className="mono">{name}</strong>{" "}
              <span className={work?.data && work.data.files > 0 ? "removal-unmerged" : "quiet"}>
                {work?.data ? words(work.data) : work?.isError ? "its work is not known" : "looking…"}
              </span>
            </li>
          );
        })}
      </ul>
      {names.length > most ? <p>And {names.length - most} more.</p> : null}
      {days === undefined ? null : (
        <p>
          {days === 0
            ? "Nothing of them is kept. This cannot be undone."
            : `Their work can be restored for ${days === 1 ? "1 day" : `${days} days`}. Ignored files, such as packages, are gone.`}
        </p>
      )}
      {note === undefined ? null : <p>{note}</p>}
    </div>
  );
}
