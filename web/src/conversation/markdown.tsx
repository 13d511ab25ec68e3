import { type ReactNode, useMemo, useState } from "react";
import { LinkQuestion } from "../parts/confirm-link.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Visible } from "../parts/visible.tsx";
import { type Block, type Inline, parseMarkdown } from "./markdown.ts";

/** A message as its author meant it, without a way to make it anything but text. */
export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => parseMarkdown(text), [text]);
  const [url, setUrl] = useState<string>();
  return (
    <div className="talk-markdown">
      {blocks.map((block, index) => (
        <BlockView key={index} block={block} onLink={setUrl} />
      ))}
      {url === undefined ? null : <LinkQuestion url={url} onClose={() => setUrl(undefined)} />}
    </div>
  );
}

type OnLink = (url: string) => void;

function BlockView({ block, onLink }: { block: Block; onLink: OnLink }): ReactNode {
  switch (block.kind) {
    case "heading": {
      // The page has the first two levels.
      const Heading = block.level === 1 ? "h3" : block.level === 2 ? "h4" : block.level === 3 ? "h5" : "h6";
      return (
        <Heading className="talk-heading">
          <Inlines inlines={block.inlines} onLink={onLink} />
        </Heading>
      );
    }
    case "code":
      return (
        <div className="talk-code">
          <div className="talk-code-head">
            <span className="quiet small">{block.language === "" ? "Code" : block.language}</span>
            <CopyButton text={block.text} />
          </div>
          <pre tabIndex={0} aria-label="Code">
            <Visible text={block.text} />
          </pre>
        </div>
      );
    case "table":
      return (
        <pre className="talk-table" tabIndex={0} aria-label="Table">
          <Visible text={block.text} />
        </pre>
      );
    case "list": {
      const List = block.isOrdered ? "ol" : "ul";
      return (
        <List {...(block.isOrdered ? { start: block.start } : {})}>
          {block.items.map(({ depth, inlines }, index) => (
            <li key={index} className={`talk-depth-${depth}`}>
              <Inlines inlines={inlines} onLink={onLink} />
            </li>
          ))}
        </List>
      );
    }
    case "rule":
      return <hr />;
    case "quote":
    case "paragraph": {
      const Whole = block.kind === "quote" ? "blockquote" : "p";
      return (
        <Whole>
          {block.lines.map((inlines, index) => (
            <span key={index}>
              {index === 0 ? null : <br />}
              <Inlines inlines={inlines} onLink={onLink} />
            </span>
          ))}
        </Whole>
      );
    }
    default:
      return null;
  }
}

function Inlines({ inlines, onLink }: { inlines: readonly Inline[]; onLink: OnLink }) {
  return (
    <>
      {inlines.map((inline, index) => (
        <InlineView key={index} inline={inline} onLink={onLink} />
      ))}
    </>
  );
}

function InlineView({ inline, onLink }: { inline: Inline; onLink: OnLink }): ReactNode {
  const text = <Visible text={inline.text} />;
  if (inline.kind === "code") return <code>{text}</code>;
  if (inline.kind === "strong") return <strong>{text}</strong>;
  if (inline.kind === "em") return <em>{text}</em>;
  if (inline.kind !== "link") return text;
  // SECURITY: a link is a question first: its text may name another address than it has.
  return (
    <button type="button" className="talk-link" onClick={() => onLink(inline.url)}>
      {text}
    </button>
  );
}
