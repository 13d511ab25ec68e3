import { z } from "zod";
import { Danger } from "./danger.ts";

/** One commit that lands with `--mode commits`, and its dangers that the diff of the whole does not have. */
export const CommitDangers = z.object({
  commit: z.string(),
  subject: z.string(),
  author: z.string().describe("`Name <email>`."),
  dangers: z.array(Danger),
});
export type CommitDangers = z.infer<typeof CommitDangers>;
