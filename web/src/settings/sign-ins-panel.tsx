import { useQuery } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { useMe } from "../api/me.ts";
import { forgetKey } from "../api/session.ts";
import { Ago, Left } from "../parts/amount.tsx";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { ErrorNote, Skeleton } from "../parts/note.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";
import { Section } from "./section.tsx";
import { TableScroll } from "../parts/table-scroll.tsx";
import { TableHead } from "../parts/table-head.tsx";

export function SignInsPanel({ canList }: { canList: boolean }) {
  const me = useMe();
  const leave = useAction(() => client.signOut(), {
    onDone() {
      forgetKey();
      location.assign("/");
    },
  });
  return (
    <Section title="Signed in">
      <div className="parts-row">
        <span>
          <Visible text={me?.name ?? ""} />
        </span>
        <Button isBusy={leave.isBusy} onClick={() => leave.run()}>
          Sign out here
        </Button>
      </div>
      {canList ? <SignIns /> : null}
    </Section>
  );
}

function SignIns() {
  const queryKey = ["access", "sign-ins"];
  const { data, error } = useQuery({ queryKey, queryFn: () => client.listSignIns() });
  const end = useAction((id: string) => client.endSignIn({ id }), {
    done: "Signed out.",
    invalidates: [queryKey],
  });
  if (error) return <ErrorNote error={error} />;
  if (!data) return <Skeleton height={80} />;
  return (
    <TableScroll>
      <table className="table box-stacked">
        <caption className="visually-hidden">Browsers that are signed in</caption>
        <TableHead columns={["Who", "Browser", "Last seen", "Ends"]} hasActions />
        <tbody>
          {data.map(({ id, kind, name, isThis, agent, usedAtMs, expiresAtMs }) => (
            <tr key={id}>
              <td>
                <Visible text={name} /> <Badge>{isThis ? "this one" : kind}</Badge>
              </td>
              <td className="small">
                <Visible text={agent ?? ""} />
              </td>
              <td data-label="Last seen">
                <Ago atMs={usedAtMs} />
              </td>
              <td data-label="Ends">
                <Left untilMs={expiresAtMs} />
              </td>
              <td>
                {isThis ? null : (
                  <Button
                    isBusy={end.isBusy}
                    aria-label={`End the sign-in of ${name}`}
                    onClick={() => end.run(id)}
                  >
                    End
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}
