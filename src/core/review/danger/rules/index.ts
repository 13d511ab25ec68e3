import { PathRules } from "../path-rule.ts";
import { agentRules } from "./agents.ts";
import { buildRules } from "./builds.ts";
import { ciRules } from "./ci.ts";
import { containerRules } from "./containers.ts";
import { editorRules } from "./editors.ts";
import { hookRules } from "./hooks.ts";
import { ownRules } from "./own-files.ts";
import { shellRules } from "./shells.ts";

export const pathRules = new PathRules([
  ...hookRules,
  ...ciRules,
  ...editorRules,
  ...shellRules,
  ...agentRules,
  ...buildRules,
  ...containerRules,
  ...ownRules,
]);
