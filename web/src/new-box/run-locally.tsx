import type { ManifestCheck } from "../../../src/contract/api/schemas/forms.ts";
import { Note } from "../parts/note.tsx";
import { CopyableText } from "./copyable-text.tsx";
import { shellLine } from "./shell-quote.ts";

interface RunLocallyProps {
  readonly createCommand: string;
  readonly check: ManifestCheck | undefined;
}

/** The same container on any host with Docker. */
export function RunLocally({ createCommand, check }: RunLocallyProps) {
  const hasImage = check?.summary?.spec.image !== undefined || check?.summary?.spec.packages !== undefined;
  return (
    <>
      <p className="quiet small">
        The same closed container without AgentBox, on any host with Docker. The gate, the vault and the
        review stay here, so it has no network.
      </p>
      {hasImage || check?.summary === undefined ? null : (
        <Note tone="warn">
          This box is made of this host's own system. Name an image under Runtime, which other hosts have as
          well.
        </Note>
      )}
      <CopyableText
        text={`${createCommand} && ${shellLine(["agentbox", "run-locally", check?.summary?.name ?? "NAME"])}`}
        label="Copy the command"
      />
    </>
  );
}
