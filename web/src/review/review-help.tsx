import { Dialog } from "../parts/dialog.tsx";
import { Kbd } from "../parts/note.tsx";

const keys = [
  ["j / k", "next and previous file"],
  ["↓ / ↑", "next and previous line"],
  ["n / p", "next and previous danger"],
  ["v", "mark the file as viewed, and go to the next one"],
  ["c", "comment on the line, or on the file"],
  ["s", "side by side, or one below the other"],
  ["m", "merge"],
  ["?", "this help"],
] as const;

export function ReviewHelp({
  isOpen,
  onClose,
  more = [],
}: {
  isOpen: boolean;
  onClose: () => void;
  more?: readonly (readonly [string, string])[];
}) {
  return (
    <Dialog title="Keys" isOpen={isOpen} onClose={onClose}>
      <dl className="review-keys">
        {[...keys, ...more].map(([key, what]) => (
          <div key={key}>
            <dt>
              <Kbd>{key}</Kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
