import { Kbd } from "./note.tsx";

export type KeyWords = readonly (readonly [key: string, what: string])[];

/** Keys and what they do, one below the other. */
export const KeyList = ({ words }: { words: KeyWords }) => (
  <dl className="parts-keys">
    {words.map(([key, what]) => (
      <div key={key}>
        <dt>
          <Kbd>{key}</Kbd>
        </dt>
        <dd>{what}</dd>
      </div>
    ))}
  </dl>
);
