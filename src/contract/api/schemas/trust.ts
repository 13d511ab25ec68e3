import { z } from "zod";
import { CreateBox, TrustEntry } from "../schemas.ts";

export const AskTrustBody = CreateBox.pick({ projectDir: true, manifest: true }).required();

export const GrantTrustBody = AskTrustBody.extend({ digest: z.string() });

export const AllowToolchainsBody = CreateBox.pick({ projectDir: true, manifest: true })
  .required({ projectDir: true })
  .extend({
    digests: z.array(z.string()).min(1).max(32).describe("Of the toolchains that the person was shown."),
    forAll: z.boolean().optional().describe("For every project. Without it, for this one."),
  });

export const ListTrustAnswer = z.object({ entries: z.array(TrustEntry) });

export const RevokeTrustQuery = z.object({ projectDir: z.string(), digest: z.string().optional() });
