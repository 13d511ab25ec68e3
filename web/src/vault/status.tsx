import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useRef } from "react";
import { client } from "../api/client.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { ErrorNote, Skeleton } from "../parts/note.tsx";
import { useAction } from "../parts/use-action.ts";
import { type ValueField, takeText } from "./secret-value.ts";
import { useSending } from "./use-sending.ts";
import { ValueInput } from "./value-input.tsx";
import { vaultQuery } from "./vault-queries.ts";

const protection = {
  keyfile: "a key file of this host",
  passphrase: "a passphrase",
  keyring: "the keyring of the person",
} as const;

/** Whether the vault is open, and the way to change that. */
export function Status() {
  const { data, error } = useQuery(vaultQuery);
  const lock = useAction(() => client.lockVault(), {
    done: "The vault is locked.",
    invalidates: [["vault"]],
  });
  if (error) return <ErrorNote error={error} />;
  if (data === undefined) return <Skeleton height={54} />;
  const canLock = data.master === "passphrase";
  return (
    <section className="parts-card parts-stack" aria-label="Status">
      <div className="parts-row">
        <Badge tone={data.isLocked ? "warn" : "good"}>{data.isLocked ? "locked" : "open"}</Badge>
        <span>
          {data.secrets} {data.secrets === 1 ? "secret" : "secrets"}, protected by {protection[data.master]}
        </span>
        {canLock && !data.isLocked ? (
          <Button onClick={() => lock.run()} isBusy={lock.isBusy}>
            Lock
          </Button>
        ) : null}
      </div>
      {data.isLocked ? <Unlock /> : null}
    </section>
  );
}

function Unlock() {
  const field = useRef<ValueField>(null);
  const { send, isBusy, error } = useSending();
  const unlock = (event: FormEvent) => {
    event.preventDefault();
    void send(() => client.unlockVault({ passphrase: takeText(field.current) }), "The vault is open.");
  };
  return (
    <form className="vault-form" onSubmit={unlock}>
      <ValueInput label="Passphrase" field={field} />
      <Button type="submit" kind="primary" isBusy={isBusy}>
        Unlock
      </Button>
      {error === undefined ? null : <ErrorNote error={error} />}
    </form>
  );
}
