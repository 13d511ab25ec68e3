import type { CommitDangers } from "../../../../src/contract/review/history.ts";
import { Checkbox } from "../../parts/field.tsx";
import { Visible } from "../../parts/visible.tsx";
import { dangerWords } from "./danger-words.ts";

/** Dangers of single commits that the diff of the whole does not show. They land unless the commits are squashed. */
export function CommitDangersList({
  history,
  isSeen,
  onSeen,
}: {
  history: readonly CommitDangers[];
  isSeen: boolean;
  onSeen: (isSeen: boolean) => void;
}) {
  return (
    <section className="review-dangers" aria-label="Dangers in single commits">
      <h3>In single commits, which stay in the history</h3>
      <ul className="review-danger-list">
        {history.map(({ commit, subject, author, dangers }) => (
          <li key={commit}>
            <strong className="mono">{commit.slice(0, 12)}</strong> <Visible text={subject} />{" "}
            <span className="quiet">
              <Visible text={author} />
            </span>
            <ul>
              {dangers.map(({ kind, path, line, why }, index) => (
                <li key={index}>
                  {dangerWords[kind]}: <Visible text={path} />
                  {line === undefined ? "" : `:${line}`} – <Visible text={why} />
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      <Checkbox
        label="I have looked at these"
        checked={isSeen}
        onChange={({ target }) => onSeen(target.checked)}
      />
    </section>
  );
}
