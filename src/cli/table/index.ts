/** Every command, in the order help shows them. */
import type { CommandSpec } from "../command.ts";
import { access } from "./access.ts";
import { agents } from "./agents.ts";
import { boxes, look } from "./boxes.ts";
import { host } from "./host.ts";
import { images } from "./images.ts";
import { logins } from "./logins.ts";
import { network } from "./network.ts";
import { project } from "./project.ts";
import { queue } from "./queue.ts";
import { review } from "./review.ts";
import { vault } from "./vault.ts";
import { work } from "./work.ts";

export const commands: readonly CommandSpec[] = [
  ...work,
  ...queue,
  ...review,
  ...boxes,
  ...look,
  ...network,
  ...vault,
  ...logins,
  ...project,
  ...images,
  ...access,
  ...agents,
  ...host,
];

export const findCommand = (name: string): CommandSpec | undefined =>
  commands.find((command) => command.name === name);
