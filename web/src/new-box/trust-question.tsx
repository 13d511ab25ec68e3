import type { TrustQuestion as Question } from "../../../src/contract/api/schemas.ts";
import { Checkbox } from "../parts/field.tsx";
import { Note } from "../parts/note.tsx";
import { Visible } from "../parts/visible.tsx";

interface TrustProps {
  readonly question: Question;
  /** The digest that the person agreed to; another one is another question. */
  readonly agreed: string | undefined;
  readonly onAgree: (digest: string | undefined) => void;
}

/** SECURITY: the manifest comes with a repository; what it asks for is shown in full and agreed to by its digest. */
export function TrustQuestion({ question, agreed, onAgree }: TrustProps) {
  const { projectDir, requests, digest, isTrusted } = question;
  if (isTrusted) {
    return (
      <Note>
        <span>
          The manifest of <Visible text={projectDir} /> asks for more than its workspace, and a person has
          agreed to exactly this.
        </span>
      </Note>
    );
  }
  return (
    <Note tone="warn">
      <strong>
        The manifest of <Visible text={projectDir} /> asks for more than its workspace
      </strong>
      <ul className="new-box-requests">
        {requests.map((request) => (
          <li key={request}>
            <Visible text={request} />
          </li>
        ))}
      </ul>
      <Checkbox
        label="Allow exactly this for this project"
        checked={agreed === digest}
        onChange={({ target }) => onAgree(target.checked ? digest : undefined)}
      />
      <span className="small quiet mono">{digest}</span>
    </Note>
  );
}
