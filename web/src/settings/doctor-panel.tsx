import { useQuery } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { Badge, type Tone } from "../parts/badge.tsx";
import { ErrorNote, Skeleton } from "../parts/note.tsx";
import { Visible } from "../parts/visible.tsx";
import { Section } from "./section.tsx";

const tones: Readonly<Record<string, Tone>> = {
  ready: "good",
  absent: "plain",
  broken: "bad",
  affected: "bad",
  unknown: "warn",
  closed: "good",
};

interface Line {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
  readonly fix?: string | undefined;
}

export function DoctorPanel() {
  const { data, error } = useQuery({
    queryKey: ["doctor"],
    queryFn: () => client.getDoctor(),
    staleTime: 300_000,
  });
  const lines: readonly Line[] =
    data === undefined
      ? []
      : [
          ...data.runtimes.map(({ name, status, detail, fix }) => ({ name, status, detail, fix: fix?.hint })),
          ...data.programs.map(({ name, status, detail }) => ({ name, status, detail })),
          ...data.escapes.map(({ component, advisory, verdict, detail, hint }) => ({
            name: `${component}: ${advisory}`,
            status: verdict,
            detail,
            fix: hint,
          })),
        ];
  return (
    <Section title="What this host can do">
      {error ? <ErrorNote error={error} /> : null}
      {!data && !error ? <Skeleton height={240} /> : null}
      <ul className="settings-list">
        {lines.map(({ name, status, detail, fix }) => (
          <li key={name}>
            <Badge tone={tones[status] ?? "plain"}>{status}</Badge> <strong>{name}</strong>{" "}
            <span className="quiet">
              <Visible text={detail} />
            </span>
            {fix === undefined || status === "ready" ? null : (
              <div className="small">
                <Visible text={fix} />
              </div>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}
