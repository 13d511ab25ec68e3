/** The effects of a commit's words and names, once it lands with its message. */
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
  /** It names an author; the agent's own name may stand there, and the person's. */
  readonly isAuthor?: true;
}

const rules: readonly WordRule[] = [
  {
    pattern:
      /\[[ \t]{0,9}(?:(?:skip|no)[ \t_-]{1,9}[\w.-]{1,40}|[\w.-]{1,40}[ \t_-]{1,9}skip)[ \t]{0,9}\]|\*\*\*no_ci\*\*\*|--skip-ci\b|^skip-checks:\s*true/im,
    why: (found) => `${quoted(found)} makes CI pass over it: nothing is tested when it is pushed.`,
  },
  {
    pattern:
      /\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?)(?::\s*|\s+)(?:[\w./-]{0,200}[#!]\d+|https?:\/\/\S+)/i,
    why: (found) => `${quoted(found)} closes that at the forge as soon as it is pushed.`,
  },
  {
    // Names of algorithms and standards have the form of a task's.
    pattern:
      /\b(?:[Cc]los(?:e[sd]?|ing)|[Ff]ix(?:e[sd]|ing)?|[Rr]esolv(?:e[sd]?|ing))(?::\s*|\s+)(?!(?:UTF|ISO|SHA|MD|AES|CVE|RFC|TLS|ES|HTTP|PEP)-)[A-Z][A-Z0-9_]{1,30}-\d+\b/,
    why: (found) => `${quoted(found)} closes that in the tracker as soon as it is pushed.`,
  },
  {
    pattern: /\b[A-Z][A-Z0-9_]{1,30}-\d+\b.{0,200}[ \t]#[a-z][a-z-]{1,30}\b/m,
    why: (found) => `${quoted(found)} changes that in the tracker as soon as it is pushed.`,
  },
  {
    pattern: /^release-as:.*/im,
    why: (found) => `${quoted(found)} chooses the version that is published next.`,
  },
  {
    pattern:
      /^[ \t*-]{0,9}@[\w-]{1,40}(?![\w/.-]).*|(?<![\w.+-])@(?:claude|codex|copilot|cursor|devin|dependabot|renovate|mergifyio|coderabbitai|gemini-code-assist|homu|bors)\b.*|\bbors[ \t:]{1,4}(?:r\+|r=|merge|try).*/im,
    why: (found) => `${quoted(found)} speaks to a bot or a person at the forge, in your name.`,
  },
  {
    pattern: /^\/[a-z_]{2,}\b.*/im,
    why: (found) => `The line ${quoted(found)} is a command to some forges and their bots.`,
  },
  {
    pattern: /^(?:signed-off|reviewed|acked|approved|tested)-by:.*/im,
    why: (found) => `${quoted(found)} puts another person's name under what the agent has written.`,
  },
  {
    pattern:
      /^(?:co-authored|co-developed|pair-programmed|on-behalf-of|suggested|reported|helped)(?:-(?:by|with))?:.*/im,
    isAuthor: true,
    why: (found) => `${quoted(found)} names a person for what the agent has written.`,
  },
  {
    pattern: /^agentbox-(?:box|agent):.*/im,
    why: (found) => `${quoted(found)} imitates the line by which AgentBox says where work comes from.`,
  },
];

/** Addresses that stand for the agent, whichever it is. */
const agentEmails = new Set(["agent@agentbox.internal", "agent@agentbox.invalid"]);
/** Addresses by which agents sign work they have helped with; no person receives mail there. */
const signingEmail =
  /^(?:no-?reply@(?!.*users\.)[\w.-]+|cursoragent@cursor\.com|aider@aider\.chat|qwen-coder@alibabacloud\.com|\d+\+copilot@users\.noreply\.github\.com)$/;

/** Whether commits of this author speak only in the person's or the agent's name. */
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
    ...messageRules(message, person).map(danger),
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

const messageRules = (message: string, person?: string): string[] =>
  rules.flatMap(({ pattern, why, isAuthor }) => {
    const all = message.matchAll(new RegExp(pattern.source, `${pattern.flags}g`));
    const match = [...all].find(([text]) => isAuthor === undefined || !isKnownHelper(text, person));
    return match ? [why(match[0].trim())] : [];
  });

const isKnownHelper = (trailer: string, person: string | undefined): boolean =>
  signingEmail.test(emailOf(trailer) ?? "") || (person !== undefined && isOwnAuthor(trailer, person));

/** Whether a line may stand in a message that no person has written. */
export const isPlainMessage = (line: string): boolean =>
  textDangers(line).length === 0 && messageRules(line).length === 0;
