/** What the words and names of a commit do on their own, once it lands with its message. */
import type { Danger } from "../../../contract/review/danger.ts";
import { hiddenCharacter } from "./hidden-character.ts";
import { quoted } from "./sentence.ts";

export interface CommitWords {
  readonly id: string;
  /** `Name <email>`. */
  readonly author: string;
  readonly message: string;
  /** As its header has it; empty for UTF-8. */
  readonly encoding?: string | undefined;
}

interface WordRule {
  readonly pattern: RegExp;
  readonly why: (found: string) => string;
}

const rules: readonly WordRule[] = [
  {
    pattern:
      /\[(?:skip[ -](?:ci|actions|travis|appveyor)|(?:ci|actions|no|travis)[ -](?:skip|ci))\]|\*\*\*no_ci\*\*\*|^skip-checks:\s*true/im,
    why: (found) => `${quoted(found)} makes CI pass over it: nothing is tested when it is pushed.`,
  },
  {
    pattern:
      /\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?)(?::\s*|\s+)(?:[\w.-]+\/[\w./-]*)?(?:[#!]\d+|https?:\/\/\S+)/i,
    why: (found) => `${quoted(found)} closes that at the forge as soon as it is pushed.`,
  },
  {
    pattern: /^\/[a-z_]{2,}\b.*/im,
    why: (found) => `The line ${quoted(found)} is a command to some forges and their bots.`,
  },
  {
    pattern: /^(?:signed-off|reviewed|acked|approved|tested)-by:.*/im,
    why: (found) => `${quoted(found)} says in somebody's name what the agent has written.`,
  },
  {
    pattern: /^agentbox-(?:box|agent):.*/im,
    why: (found) => `${quoted(found)} imitates the line by which AgentBox says where work comes from.`,
  },
];

/** Addresses that stand for the agent, whichever it is. */
const agentEmails = new Set(["agent@agentbox.internal", "agent@agentbox.invalid"]);

/** Whether commits of this author speak in nobody's name but the person's or the agent's. */
export const isOwnAuthor = (author: string, person: string): boolean => {
  const email = emailOf(author);
  return email !== undefined && (agentEmails.has(email) || email === emailOf(person));
};

const emailOf = (identity: string): string | undefined =>
  /<([^<>]*)>\s*$/.exec(identity)?.[1]?.trim().toLowerCase();

/** `person` is who the work lands for; undefined when that is not known. */
export function commitWords(words: CommitWords, person: string | undefined): Danger[] {
  const { id, author, message, encoding = "" } = words;
  const danger = (why: string): Danger => ({ kind: "commit", path: `commit ${id.slice(0, 12)}`, why });
  const foreign =
    person !== undefined && !isOwnAuthor(author, person)
      ? [danger(`Its author is ${quoted(author)}, neither the agent nor you: it lands in their name.`)]
      : [];
  const odd =
    encoding === "" || /^utf-?8$/i.test(encoding)
      ? []
      : [danger(`Its message is encoded as ${quoted(encoding)}: programs read it in different ways.`)];
  return [
    ...foreign,
    ...odd,
    ...textDangers(`${message}\n${author}`).map(danger),
    ...messageRules(message).map(danger),
  ];
}

function textDangers(text: string): string[] {
  const hidden = text
    .split("\n")
    .map(hiddenCharacter)
    .find((found) => found !== undefined);
  const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/u.test(text.replaceAll("\r\n", "\n"));
  return [
    ...(hidden ? [`Its message or author has a character that cannot be seen (${hidden.name}).`] : []),
    ...(control && !hidden ? ["Its message or author has control characters, which act on a terminal."] : []),
  ];
}

const messageRules = (message: string): string[] =>
  rules.flatMap(({ pattern, why }) => {
    const match = pattern.exec(message);
    return match ? [why(match[0].trim())] : [];
  });

/** Whether a line may stand in a message that nobody has written themselves. */
export const isPlainMessage = (line: string): boolean =>
  textDangers(line).length === 0 && messageRules(line).length === 0;
