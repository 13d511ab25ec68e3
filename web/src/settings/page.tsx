/** The choices for this browser, the signed-in user, and the daemon's facts about itself. */
import { useMe } from "../api/me.ts";
import { type ThemeChoice, chooseTheme, useThemeChoice } from "../app/theme.ts";
import { NoticeSettings } from "../notices/notice-settings.tsx";
import { Field, Select } from "../parts/field.tsx";
import { PageHeader, ErrorNote, Skeleton } from "../parts/note.tsx";
import { DiskPanel } from "./disk-panel.tsx";
import { DoctorPanel } from "./doctor-panel.tsx";
import { ReceiversPanel } from "./receivers-panel.tsx";
import { RemovedPanel } from "../removal/removed-panel.tsx";
import { Section } from "./section.tsx";
import { SignInsPanel } from "./sign-ins-panel.tsx";
import { TokensPanel } from "./tokens-panel.tsx";
import { useQuery } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { Ago } from "../parts/amount.tsx";

function DaemonPanel() {
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

const themes: readonly (readonly [ThemeChoice, string])[] = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
];

export function SettingsPage() {
  const me = useMe();
  const theme = useThemeChoice();
  const canManage = me?.scopes.includes("host") === true && me.kind !== "guest";
  return (
    <div className="settings">
      <PageHeader title="Settings" />
      <Section title="This browser">
        <Field label="Theme">
          <Select value={theme} onChange={({ target }) => chooseTheme(target.value as ThemeChoice)}>
            {themes.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        </Field>
        <h3>Notifications</h3>
        <NoticeSettings />
      </Section>
      {canManage ? <ReceiversPanel /> : null}
      <SignInsPanel canList={canManage} />
      {canManage ? <TokensPanel /> : null}
      {me === undefined || me.kind === "guest" ? null : <RemovedPanel />}
      <DaemonPanel />
      {me?.isAdmin ? <DiskPanel /> : null}
      {me?.isAdmin ? <DoctorPanel /> : null}
    </div>
  );
}
