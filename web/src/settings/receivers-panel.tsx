/** Where notices of the person go besides this browser. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  type NoticeKind,
  type ReceiverKind,
  noticeKinds,
  receiverKinds,
} from "../../../src/contract/notices.ts";
import { client } from "../api/client.ts";
import { noticeLabels } from "../notices/notice-words.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { ConfirmButton } from "../parts/dialog.tsx";
import { Checkbox, Field, Select, TextInput } from "../parts/field.tsx";
import { ErrorNote, Skeleton } from "../parts/note.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { TableScroll } from "../parts/table-scroll.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";
import { Section } from "./section.tsx";

const names: Readonly<Record<ReceiverKind, string>> = { slack: "Slack", ntfy: "ntfy", email: "E-mail" };
const addresses: Readonly<Record<ReceiverKind, { label: string; hint: string }>> = {
  slack: {
    label: "Address of the incoming webhook",
    hint: "Slack, Mattermost, Rocket.Chat, or Discord with /slack at its end.",
  },
  ntfy: { label: "Address of the topic", hint: "Such as https://ntfy.sh/my-agents" },
  email: { label: "E-mail address", hint: "Mail goes out by the server of [notices.smtp] in config.toml." },
};

const queryKey = ["access", "receivers"];

export function ReceiversPanel() {
  return (
    <Section title="Notices elsewhere">
      <p className="quiet">
        Tells you while no page is open when an agent waits, is done, fails or runs out of budget.
      </p>
      <Receivers />
      <NewReceiver />
    </Section>
  );
}

function Receivers() {
  const { data, error } = useQuery({ queryKey, queryFn: () => client.listReceivers() });
  const test = useAction((id: string) => client.testReceiver({ id }), { done: "Trial notice sent" });
  const remove = useAction((id: string) => client.removeReceiver({ id }), {
    done: "Receiver removed",
    invalidates: [queryKey],
  });
  if (error) return <ErrorNote error={error} />;
  if (!data) return <Skeleton height={60} />;
  if (data.length === 0) return <p className="quiet">No receivers yet.</p>;
  return (
    <TableScroll>
      <table className="table box-stacked">
        <caption className="visually-hidden">Receivers of notices</caption>
        <TableHead columns={["Where", "When"]} hasActions />
        <tbody>
          {data.map(({ id, kind, to, wants }) => (
            <tr key={id}>
              <td>
                {names[kind]}: <Visible text={to} />
              </td>
              <td>
                <span className="parts-row">
                  {wants.length === noticeKinds.length
                    ? "always"
                    : wants.map((want) => <Badge key={want}>{want}</Badge>)}
                </span>
              </td>
              <td>
                <span className="parts-row">
                  <Button
                    isBusy={test.isBusy}
                    aria-label={`Send a trial notice to ${to}`}
                    onClick={() => test.run(id)}
                  >
                    Test
                  </Button>
                  <ConfirmButton
                    question={`Remove ${to}?`}
                    confirm="Remove"
                    kind="danger"
                    details={<p>It gets no more notices.</p>}
                    aria-label={`Remove ${to}`}
                    isBusy={remove.isBusy}
                    onConfirm={() => remove.run(id)}
                  >
                    Remove
                  </ConfirmButton>
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}

function NewReceiver() {
  const [kind, setKind] = useState<ReceiverKind>("slack");
  const [address, setAddress] = useState("");
  const [token, setToken] = useState("");
  const [wants, setWants] = useState<readonly NoticeKind[]>(noticeKinds);
  const { run, isBusy, error } = useAction(
    () =>
      client.createReceiver({
        kind,
        address: address.trim(),
        ...(kind === "ntfy" && token !== "" ? { token } : {}),
        wants: [...wants],
      }),
    {
      done: "Receiver added. A trial notice has arrived there.",
      invalidates: [queryKey],
      onDone() {
        setAddress("");
        setToken("");
      },
      isQuiet: true,
    },
  );
  return (
    <form
      className="parts-stack"
      onSubmit={(event) => {
        event.preventDefault();
        run();
      }}
    >
      <h3>Add a receiver</h3>
      <Field label="Kind">
        <Select value={kind} onChange={({ target }) => setKind(target.value as ReceiverKind)}>
          {receiverKinds.map((one) => (
            <option key={one} value={one}>
              {names[one]}
            </option>
          ))}
        </Select>
      </Field>
      <Field label={addresses[kind].label} hint={addresses[kind].hint}>
        <TextInput
          value={address}
          maxLength={2_048}
          // The address of a webhook is a credential.
          type={kind === "slack" ? "password" : "text"}
          autoComplete="off"
          onChange={({ target }) => setAddress(target.value)}
        />
      </Field>
      {kind === "ntfy" ? (
        <Field label="Access token (optional)">
          <TextInput
            value={token}
            type="password"
            autoComplete="off"
            onChange={({ target }) => setToken(target.value)}
          />
        </Field>
      ) : null}
      <fieldset className="settings-scopes">
        <legend>Send a notice</legend>
        {noticeKinds.map((one) => (
          <Checkbox
            key={one}
            label={noticeLabels[one]}
            checked={wants.includes(one)}
            onChange={({ target }) =>
              setWants(noticeKinds.filter((each) => (each === one ? target.checked : wants.includes(each))))
            }
          />
        ))}
      </fieldset>
      <div>
        <Button
          type="submit"
          kind="primary"
          isBusy={isBusy}
          disabled={address.trim() === "" || wants.length === 0}
        >
          Add and send a trial notice
        </Button>
      </div>
      {error ? <ErrorNote error={error} /> : null}
    </form>
  );
}
