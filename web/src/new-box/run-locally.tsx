import { useQuery } from "@tanstack/react-query";
import { renderDockerRun } from "../../../src/contract/docker-run.ts";
import type { ManifestCheck } from "../../../src/contract/api/schemas/forms.ts";
import { client } from "../api/client.ts";
import { ErrorNote, Note, Skeleton } from "../parts/note.tsx";
import { CopyableText } from "./copyable-text.tsx";
import { shellLine } from "./shell-quote.ts";

interface RunLocallyProps {
  readonly createCommand: string;
  readonly check: ManifestCheck | undefined;
  /** The box that this form has made. */
  readonly madeBox: string | undefined;
}

/** The same container on any host with Docker: the line itself once the box is there, before that the way to it. */
export function RunLocally({ createCommand, check, madeBox }: RunLocallyProps) {
  const hasImage = check?.summary?.spec.image !== undefined || check?.summary?.spec.packages !== undefined;
  return (
    <>
      <p className="quiet small">
        The same closed container without AgentBox, on any host with Docker. The gate, the vault and the
        review stay here, so it has no network.
      </p>
      {madeBox === undefined ? (
        <>
          {hasImage || check?.summary === undefined ? null : (
            <Note tone="warn">
              This box is made of this host's own system. Name an image under Runtime, which other hosts have
              as well.
            </Note>
          )}
          <CopyableText
            text={`${createCommand} && ${shellLine(["agentbox", "run-locally", check?.summary?.name ?? "NAME"])}`}
            label="Copy the command"
          />
        </>
      ) : (
        <MadeBox box={madeBox} />
      )}
    </>
  );
}

function MadeBox({ box }: { box: string }) {
  const { data, error } = useQuery({
    queryKey: ["box", box, "container"],
    queryFn: () => client.exportBox(box),
    retry: false,
  });
  if (data) return <CopyableText text={renderDockerRun(data)} label="Copy the command" />;
  return error ? <ErrorNote error={error} /> : <Skeleton height={120} />;
}
