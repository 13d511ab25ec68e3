import { noticeKinds } from "../../contract/notices.ts";
import { scopes } from "../../contract/access/scope-names.ts";
import type { CommandSpec } from "../command.ts";

export const access: readonly CommandSpec[] = [
  {
    name: "share",
    group: "Boxes",
    summary: "Share a box: a link that works once, for this box only, to look or to work.",
    usage: "share BOX [flags], share ls BOX, share rm BOX ID",
    examples: [
      "agentbox share shop                    anyone with the link may look",
      "agentbox share shop --work --for 8h    and type, for eight hours",
      "agentbox share shop --with ada@example.org  a person of the team, without a link",
      "agentbox share ls shop",
      "agentbox share rm shop 3f2a9c0d11e84b57",
    ],
    flags: {
      work: { type: "switch", summary: "They may type, run and change things in it, too." },
      for: { type: "text", value: "TIME", summary: "How long it holds. Default: a week." },
      with: { type: "text", value: "PERSON", summary: "A person who has signed in, by e-mail address." },
    },
    takes: [1, 3],
    completes: "box",
    load: () => import("../commands/share.ts"),
  },
  {
    name: "token",
    group: "Host",
    summary: "Make, list or end access tokens for programs that use the API.",
    usage: "token ls|create NAME --scope SCOPE…|rm ID",
    examples: [
      "agentbox token create ci --scope read --scope work --expires 30d",
      "agentbox token ls",
      "agentbox token rm 3f2a9c0d11e84b57",
    ],
    flags: {
      scope: { type: "list", value: "SCOPE", summary: "What it may do; can be repeated.", choices: scopes },
      expires: { type: "text", value: "TIME", summary: "When it ends by itself. Default: never." },
    },
    takes: [0, 2],
    completes: ["ls", "create", "rm"],
    load: () => import("../commands/token.ts"),
  },
  {
    name: "notify",
    group: "Host",
    summary: "Send notices about your boxes to Slack, ntfy or e-mail.",
    usage: "notify [ls|add slack|add ntfy URL|add email TO|test ID|rm ID]",
    examples: [
      "agentbox notify add slack                      asks for the address of an incoming webhook",
      "agentbox notify add ntfy https://ntfy.sh/my-agents --on waits --on failed",
      "agentbox notify add email ada@example.org      by the mail server of config.toml",
      "agentbox notify test 3f2a9c0d11e84b57",
    ],
    flags: {
      on: {
        type: "list",
        value: "KIND",
        summary: "Only these notices; can be repeated. Default: all.",
        choices: noticeKinds,
      },
      "with-token": { type: "switch", summary: "Ask for the access token of the ntfy server, too." },
    },
    takes: [0, 3],
    completes: ["ls", "add", "test", "rm"],
    load: () => import("../commands/notify.ts"),
  },
  {
    name: "sign-ins",
    group: "Host",
    summary: "List the browsers that are signed in, or end one.",
    usage: "sign-ins [ls|end ID]",
    examples: ["agentbox sign-ins", "agentbox sign-ins end 3f2a9c0d11e84b57"],
    flags: {},
    takes: [0, 2],
    completes: ["ls", "end"],
    load: () => import("../commands/sign-ins.ts"),
  },
];
