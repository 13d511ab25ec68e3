import { z } from "zod";
import { CreateBox, TrustEntry } from "../schemas.ts";

export const AskTrustBody = CreateBox.pick({ projectDir: true, manifest: true }).required();

export const GrantTrustBody = AskTrustBody.extend({ digest: z.string() });

export const ListTrustAnswer = z.object({ entries: z.array(TrustEntry) });

export const RevokeTrustQuery = z.object({ projectDir: z.string(), digest: z.string().optional() });
