/** The first page of a box: the conversation with its agent, or what it does where it has none. */
import { Link, useSearch } from "@tanstack/react-router";
import { NeedsYou } from "../box/needs-you.tsx";
import { OverviewPage } from "../box/page.tsx";
import { useBox, useBoxName } from "../box/use-box.ts";
import type { Box } from "../../../src/contract/box.ts";
import { Empty, ErrorNote, Skeleton } from "../parts/note.tsx";
import { Composer } from "./composer.tsx";
import { ConversationList } from "./conversation-list.tsx";
import { useConversation } from "./use-conversation.ts";

export function BoxPage() {
  const name = useBoxName();
  const { data, error } = useBox(name);
  if (error && !data) return <ErrorNote error={error} />;
  if (!data) return <Skeleton height={480} />;
  if (!data.box.run) return <OverviewPage />;
  return <ConversationPage key={data.box.incarnation} box={data.box} />;
}

function ConversationPage({ box }: { box: Box }) {
  const { data, error } = useConversation(box.name);
  const { turn } = useSearch({ strict: false });
  return (
    <div className="talk">
      <NeedsYou box={box} />
      {error ? <ErrorNote error={error} /> : null}
      {data === undefined && !error ? <Skeleton height={480} label="Loading the conversation" /> : null}
      {data?.tells === "only_asked" ? (
        <p className="quiet">
          This agent shows what it does only in its terminal.{" "}
          <Link to="/box/$name/terminal" params={{ name: box.name }}>
            Open the terminal
          </Link>
        </p>
      ) : null}
      {data === undefined ? null : data.entries.length === 0 ? (
        <Empty title="Nothing has been said yet">
          <p>
            Your messages and what the agent does appear here. Its screen is in the{" "}
            <Link to="/box/$name/terminal" params={{ name: box.name }}>
              terminal
            </Link>
            .
          </p>
        </Empty>
      ) : (
        <ConversationList box={box.name} agent={box.spec.agent.name} conversation={data} turn={turn} />
      )}
      <Composer box={box} />
    </div>
  );
}
