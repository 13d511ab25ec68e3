import { useQuery } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { Ago } from "../parts/amount.tsx";
import { ErrorNote, Skeleton } from "../parts/note.tsx";
import { Section } from "./section.tsx";

export function DaemonPanel() {
  const { data, error } = useQuery({ queryKey: ["info"], queryFn: () => client.getInfo() });
  return (
    <Section title="About">
      {error ? <ErrorNote error={error} /> : null}
      {!data && !error ? <Skeleton height={100} /> : null}
      {data ? (
        <dl className="settings-facts">
          <dt>Version</dt>
          <dd>{data.version}</dd>
          <dt>Daemon</dt>
          <dd>
            process {data.pid}, started <Ago atMs={data.startedAtMs} />
          </dd>
          <dt>Home</dt>
          <dd className="mono">{data.home}</dd>
          <dt>Boxes</dt>
          <dd>{data.boxes}</dd>
        </dl>
      ) : null}
    </Section>
  );
}
