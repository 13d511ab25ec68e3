import { useQuery } from "@tanstack/react-query";
import type { SecretDetails } from "../../../src/contract/api/schemas/vault.ts";
import type { SecretGrant } from "../../../src/contract/secret/grant.ts";
import { client } from "../api/client.ts";
import { Ago, Left } from "../parts/amount.tsx";
import { Badge } from "../parts/badge.tsx";
import { ConfirmButton } from "../parts/dialog.tsx";
import { Empty, ErrorNote, Skeleton } from "../parts/note.tsx";
import { useToast } from "../parts/toast.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";
import { AddSecret } from "./add-secret.tsx";
import { GrantSecret } from "./grant-secret.tsx";
import { RotateSecret } from "./rotate-secret.tsx";
import { TestSecret } from "./test-secret.tsx";
import { secretsQuery } from "./vault-queries.ts";
import { scopeText, sourceText } from "./words.ts";

/** Every secret with who may use it; never a value. */
export function Secrets() {
  const { data, error } = useQuery(secretsQuery);
  return (
    <section className="parts-stack" aria-labelledby="vault-secrets">
      <div className="parts-header">
        <h2 id="vault-secrets">Secrets</h2>
        <AddSecret />
      </div>
      {error ? <ErrorNote error={error} /> : null}
      {data === undefined && !error ? <Skeleton height={220} /> : null}
      {data?.length === 0 ? (
        <Empty title="The vault is empty">
          <p>Boxes use the secrets that you save here, and never see them.</p>
        </Empty>
      ) : null}
      {data?.map((details) => (
        <Secret key={details.secret.name} details={details} />
      ))}
    </section>
  );
}

function Secret({ details: { secret, grants } }: { details: SecretDetails }) {
  const { name, kind, note, updatedAtMs, versions } = secret;
  const remove = useAction(() => client.removeSecret({ name }), {
    done: `Removed ${name}.`,
    invalidates: [["vault"]],
  });
  const isLong = kind === "ssh-key" || kind === "aws";
  return (
    <article className="parts-card parts-stack" aria-label={name}>
      <div className="parts-header">
        <div className="parts-row">
          <h3 className="mono">{name}</h3>
          <Badge>{kind}</Badge>
          <Badge>version {versions.at(-1)?.version ?? 1}</Badge>
        </div>
        <div className="parts-actions">
          <GrantSecret name={name} />
          {secret.source.kind === "stored" && kind !== "oauth" ? (
            <RotateSecret name={name} isLong={isLong} />
          ) : null}
          <TestSecret name={name} />
          <ConfirmButton
            kind="danger"
            question={`Remove ${name} for good?`}
            confirm="Remove it"
            details={
              <p>
                {grants.length === 0
                  ? "No box uses it."
                  : `${grants.length === 1 ? "One grant goes" : `${grants.length} grants go`} with it. Boxes can no longer use it.`}
              </p>
            }
            onConfirm={() => remove.run()}
          >
            Remove
          </ConfirmButton>
        </div>
      </div>
      <p className="quiet small">
        Stored <Visible text={sourceText(secret)} />, changed <Ago atMs={updatedAtMs} />
        {note === undefined ? null : (
          <>
            . <Visible text={note} />
          </>
        )}
      </p>
      <Grants name={name} grants={grants} />
    </article>
  );
}

function Grants({ name, grants }: { name: string; grants: readonly SecretGrant[] }) {
  if (grants.length === 0) return <p className="quiet">No box can use this secret yet.</p>;
  return (
    <ul className="vault-list" aria-label={`Grants of ${name}`}>
      {grants.map((grant) => (
        <Grant key={`${JSON.stringify(grant.scope)} ${grant.use}`} name={name} grant={grant} />
      ))}
    </ul>
  );
}

function Grant({ name, grant }: { name: string; grant: SecretGrant }) {
  const toast = useToast();
  const { scope, sentence, expiresAtMs } = grant;
  const revoke = useAction(
    () =>
      client.revokeSecret({
        name,
        ...(scope.kind === "box" ? { box: scope.box } : {}),
        ...(scope.kind === "project" ? { projectDir: scope.projectDir } : {}),
        ...(scope.kind === "agent" ? { agent: scope.agent } : {}),
      }),
    {
      done: `Revoked. The next request is refused.`,
      invalidates: [["vault"]],
      onDone: ({ holders }) => {
        // SECURITY: a box that was given the value itself still has it, and the user must know.
        if (holders.length > 0)
          toast(`${holders.join(", ")} still hold the value: stop them, and rotate ${name}.`, "bad");
      },
    },
  );
  return (
    <li className="vault-grant">
      <span>
        <strong>
          <Visible text={scopeText(scope)} />
        </strong>{" "}
        may <Visible text={sentence} />
        {expiresAtMs === undefined ? null : (
          <>
            {" "}
            (<Left untilMs={expiresAtMs} />)
          </>
        )}
      </span>
      <ConfirmButton
        kind="danger"
        question="Revoke this grant?"
        confirm="Revoke"
        details={<p>From the next request on, it may not use the secret.</p>}
        onConfirm={() => revoke.run()}
      >
        Revoke
      </ConfirmButton>
    </li>
  );
}
