import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { omitUndefined } from "../../../src/base/omit-undefined.ts";
import { Count, Money } from "../parts/amount.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { formatSpan } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import { Visible } from "../parts/visible.tsx";
import { Markdown } from "./markdown.tsx";
import type { Row, ToolRow } from "./rows.ts";

interface RowContext {
  readonly box: string;
  readonly agent: string;
  /** The name of the person who looks. */
  readonly me: string | undefined;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

export function RowView({ row, ...context }: RowContext & { row: Row }): ReactNode {
  switch (row.kind) {
    case "asked":
      return <Asked row={row} {...context} />;
    case "said":
      return (
        <article className="talk-said" aria-label={context.agent}>
          <Markdown text={row.text} />
          <div className="talk-tools">
            <CopyButton text={row.text} />
          </div>
        </article>
      );
    case "thinking":
      return (
        <Folded {...context} className="talk-thinking" line={<>Thinking: {firstLine(row.text)}</>}>
          <Markdown text={row.text} />
        </Folded>
      );
    case "tool":
      return <Tool row={row} {...context} />;
    case "files":
      return <Files files={row.files} />;
    case "checkpoint": {
      const { number, files, added, deleted } = row.entry;
      return (
        <p className="talk-note">
          <Link
            to="/box/$name/review"
            params={{ name: context.box }}
            search={{ to: String(number), ...omitUndefined({ from: row.from?.toString() }) }}
          >
            Review this turn
          </Link>
          <span className="quiet">
            checkpoint {number}: {files} {files === 1 ? "file" : "files"}{" "}
            <span className="talk-added">+{added}</span> <span className="talk-deleted">−{deleted}</span>{" "}
            since the start
          </span>
        </p>
      );
    }
    case "ended":
      return <Ended row={row} />;
    case "notice":
      return (
        <p className={`talk-notice talk-${row.tone}`}>
          <Visible text={row.text} />
        </p>
      );
    default:
      return null;
  }
}

function Asked({ row, me, box }: RowContext & { row: Extract<Row, { kind: "asked" }> }) {
  const { entry, turn } = row;
  const from =
    entry.kind === "message"
      ? "In the terminal"
      : entry.from === undefined
        ? "Task"
        : entry.from === me
          ? "You"
          : entry.from;
  const date = new Date(entry.atMs);
  const address = `${location.origin}/box/${encodeURIComponent(box)}?turn=${turn}`;
  return (
    <article className="talk-asked" aria-label={`Turn ${turn}`}>
      <header className="talk-head">
        <strong>
          <Visible text={from} />
        </strong>
        <time className="quiet small" dateTime={date.toISOString()} title={date.toLocaleString()}>
          {date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}
        </time>
        <span className="quiet small">turn {turn}</span>
        <span className="talk-tools">
          <CopyButton text={address} label="Link" />
          <CopyButton text={entry.text} />
        </span>
      </header>
      <Markdown text={entry.text} />
    </article>
  );
}

function Tool({ row, ...context }: RowContext & { row: ToolRow }) {
  const { call, answer, files } = row;
  const state = answer === undefined ? "runs" : answer.isError ? "failed" : "done";
  return (
    <Folded
      {...context}
      className={`talk-tool talk-tool-${state}`}
      line={
        <>
          <span className="talk-tool-name">
            <Visible text={call.tool} />
          </span>{" "}
          <span className="mono">{firstLine(call.summary)}</span>
          {answer === undefined ? <span className="quiet"> …</span> : null}
          {answer?.isError ? <span className="talk-deleted"> failed</span> : null}
        </>
      }
    >
      {call.diff === undefined ? null : <Diff text={call.diff} />}
      {call.input === undefined && call.diff !== undefined ? null : (
        <Output label="Input" text={call.input ?? call.summary} />
      )}
      {answer === undefined || answer.summary === "" ? null : <Output label="Output" text={answer.summary} />}
      {files.length === 0 ? null : <Files files={files} />}
    </Folded>
  );
}

function Folded({
  isOpen,
  onToggle,
  className,
  line,
  children,
}: RowContext & { className: string; line: ReactNode; children: ReactNode }) {
  return (
    <div className={className}>
      <button type="button" className="talk-line" aria-expanded={isOpen} onClick={onToggle}>
        <span className="talk-chevron">
          <Icon name="chevron" />
        </span>
        <span className="talk-line-text">{line}</span>
      </button>
      {isOpen ? <div className="talk-open">{children}</div> : null}
    </div>
  );
}

function Output({ label, text }: { label: string; text: string }) {
  return (
    <section className="talk-code" aria-label={label}>
      <div className="talk-code-head">
        <span className="quiet small">{label}</span>
        <CopyButton text={text} />
      </div>
      <pre tabIndex={0}>
        <Visible text={text} />
      </pre>
    </section>
  );
}

function Diff({ text }: { text: string }) {
  return (
    <section className="talk-code" aria-label="Change">
      <div className="talk-code-head">
        <span className="quiet small">Change</span>
        <CopyButton text={text} />
      </div>
      <pre tabIndex={0} className="talk-diff">
        {text.split("\n").map((line, index) => (
          <span key={index} className={diffClasses[line[0] ?? ""] ?? ""}>
            <Visible text={`${line}\n`} />
          </span>
        ))}
      </pre>
    </section>
  );
}

const diffClasses: Readonly<Record<string, string>> = {
  "+": "talk-line-added",
  "-": "talk-line-deleted",
  "*": "talk-line-file",
};

const marks = { created: "+", changed: "±", deleted: "−" } as const;

function Files({
  files,
}: {
  files: readonly { readonly path: string; readonly change: keyof typeof marks }[];
}) {
  return (
    <ul className="talk-files" aria-label="Changed files">
      {files.map(({ path, change }) => (
        <li key={path} className="mono">
          <span className={change === "deleted" ? "talk-deleted" : "talk-added"} title={change}>
            {marks[change]}
          </span>{" "}
          <Visible text={path.replace(/^\/workspace\//, "")} />
        </li>
      ))}
    </ul>
  );
}

function Ended({ row: { entry } }: { row: Extract<Row, { kind: "ended" }> }) {
  const { verdict, why, tokens, costMicroUsd, durationMs } = entry;
  const isGood = verdict === undefined || verdict === "done";
  return (
    <p className="talk-note">
      <span className={isGood ? "talk-added" : "talk-deleted"}>
        {verdict?.replaceAll("_", " ") ?? "turn done"}
      </span>
      <span className="quiet">
        {tokens === 0 ? null : (
          <>
            <Count n={tokens} /> tokens,{" "}
          </>
        )}
        {costMicroUsd === 0 ? null : (
          <>
            <Money microUsd={costMicroUsd} />,{" "}
          </>
        )}
        {formatSpan(durationMs)}
      </span>
      {isGood || why === undefined ? null : (
        <span>
          <Visible text={why} />
        </span>
      )}
    </p>
  );
}

const lineLength = 200;

function firstLine(text: string): ReactNode {
  const [line = "", ...more] = text.trim().split("\n");
  const isCut = line.length > lineLength || more.length > 0;
  return <Visible text={isCut ? `${line.slice(0, lineLength)} …` : line} />;
}
