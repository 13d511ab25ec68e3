/** Signing in to a service: what comes out of it is a secret of the vault, which this page never sees. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import type { ConnectionPreset, ConnectionState } from "../../../src/contract/secret/connection.ts";
import { client } from "../api/client.ts";
import { Left } from "../parts/amount.tsx";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { ConfirmLink } from "../parts/confirm-link.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field, Select, TextInput } from "../parts/field.tsx";
import { ErrorNote, Note, Skeleton } from "../parts/note.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";
import { connectionPresetsQuery, secretsQuery } from "./vault-queries.ts";

export function Connections() {
  const { data: presets, error } = useQuery(connectionPresetsQuery);
  const connected = (useQuery(secretsQuery).data ?? []).filter(({ secret }) => secret.kind === "oauth");
  const [chosen, setChosen] = useState<ConnectionPreset | "own">();
  return (
    <section className="parts-stack" aria-labelledby="vault-connections">
      <div className="parts-header">
        <h2 id="vault-connections">Connections</h2>
        <Button onClick={() => setChosen("own")}>Another service</Button>
      </div>
      {connected.length === 0 ? null : (
        <p>
          Connected: <span className="mono">{connected.map(({ secret }) => secret.name).join(", ")}</span>
        </p>
      )}
      {error ? <ErrorNote error={error} /> : null}
      {presets === undefined && !error ? <Skeleton height={160} /> : null}
      <div className="vault-presets">
        {presets?.map((preset) => (
          <article key={preset.name} className="parts-card parts-stack" aria-label={preset.title}>
            <div className="parts-header">
              <h3>{preset.title}</h3>
              <Button onClick={() => setChosen(preset)}>Connect</Button>
            </div>
            <ul className="vault-list small">
              {preset.can.map((line) => (
                <li key={line}>
                  <Badge tone="good">can</Badge> {line}
                </li>
              ))}
              {preset.cannot.map((line) => (
                <li key={line}>
                  <Badge>cannot</Badge> {line}
                </li>
              ))}
            </ul>
          </article>
        ))}
      </div>
      <Dialog
        title={chosen === undefined || chosen === "own" ? "Connect a service" : `Connect ${chosen.title}`}
        isOpen={chosen !== undefined}
        onClose={() => setChosen(undefined)}
      >
        {chosen === undefined ? null : <ConnectForm preset={chosen === "own" ? undefined : chosen} />}
      </Dialog>
    </section>
  );
}

function ConnectForm({ preset }: { preset: ConnectionPreset | undefined }) {
  const [secret, setSecret] = useState(preset?.name ?? "");
  const [clientId, setClientId] = useState("");
  const [clientSecret, setClientSecret] = useState("");
  const [issuer, setIssuer] = useState("");
  const [scopes, setScopes] = useState(preset?.scopes.join(" ") ?? "");
  const [flow, setFlow] = useState<"code" | "device">("code");
  const [begun, setBegun] = useState<ConnectionState>();
  const words = scopes.split(/\s+/).filter((word) => word !== "");
  const start = useAction(
    () =>
      client.startConnection({
        secret: secret.trim(),
        ...(preset === undefined ? { issuer: issuer.trim() } : { preset: preset.name }),
        ...(clientId === "" ? {} : { clientId: clientId.trim() }),
        ...(clientSecret === "" ? {} : { clientSecret: clientSecret.trim() }),
        ...(words.length === 0 ? {} : { scopes: words }),
        flow,
      }),
    { isQuiet: true, onDone: setBegun },
  );
  if (begun !== undefined) return <SignIn begun={begun} />;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start.run();
  };
  return (
    <form className="parts-stack" onSubmit={submit}>
      {preset === undefined ? (
        <Field
          label="Issuer"
          hint="Address of the service; its endpoints are found from there. With a client secret: agentbox connect."
        >
          <TextInput value={issuer} onChange={({ target }) => setIssuer(target.value)} required />
        </Field>
      ) : (
        <p className="small quiet">{preset.registration}</p>
      )}
      <Field label="Name in the vault">
        <TextInput value={secret} onChange={({ target }) => setSecret(target.value)} required />
      </Field>
      <Field label="Client id" hint="Of the application that you registered with the service.">
        <TextInput value={clientId} onChange={({ target }) => setClientId(target.value)} />
      </Field>
      {preset === undefined ? null : (
        <Field
          label="Client secret"
          hint="Its name in the vault, where the service insists on one. Never the value."
        >
          <TextInput value={clientSecret} onChange={({ target }) => setClientSecret(target.value)} />
        </Field>
      )}
      <Field label="Scopes" hint="The least that is needed, separated by spaces.">
        <TextInput value={scopes} onChange={({ target }) => setScopes(target.value)} />
      </Field>
      <Field label="How">
        <Select value={flow} onChange={({ target }) => setFlow(target.value as "code" | "device")}>
          <option value="code">in a browser on this host</option>
          <option value="device">with a code, on any device</option>
        </Select>
      </Field>
      {start.error ? <ErrorNote error={start.error} /> : null}
      <div className="parts-actions">
        <Button type="submit" kind="primary" isBusy={start.isBusy}>
          Begin
        </Button>
      </div>
    </form>
  );
}

const tones = { waiting: "warn", connected: "good", failed: "bad", expired: "bad" } as const;

function SignIn({ begun }: { begun: ConnectionState }) {
  const queries = useQueryClient();
  const { data, error } = useQuery({
    queryKey: ["vault", "connection", begun.id],
    queryFn: () => client.getConnection(begun.id),
    initialData: begun,
    refetchInterval: ({ state }) => (state.data?.state === "waiting" ? 1_000 : false),
    staleTime: 0,
  });
  const isConnected = data.state === "connected";
  useEffect(() => {
    if (isConnected) void queries.invalidateQueries({ queryKey: ["vault"] });
  }, [isConnected, queries]);
  return (
    <div className="parts-stack" aria-live="polite">
      <div className="parts-row">
        <Badge tone={tones[data.state]}>{data.state}</Badge>
        {data.state === "waiting" ? <Left untilMs={data.expiresAtMs} /> : null}
      </div>
      {data.state === "waiting" && data.url !== undefined ? (
        <>
          <p>Agree there. This page goes on by itself.</p>
          <ConfirmLink url={data.url} />
          {data.userCode === undefined ? null : (
            <p>
              Type <strong className="mono">{data.userCode}</strong>
            </p>
          )}
        </>
      ) : null}
      {isConnected ? <Note>Saved "{data.secret}" in the vault. Grant it to a box to use it.</Note> : null}
      {data.message === undefined ? null : (
        <p>
          <Visible text={data.message} />
        </p>
      )}
      {error ? <ErrorNote error={error} /> : null}
    </div>
  );
}
