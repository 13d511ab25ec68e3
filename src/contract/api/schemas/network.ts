import { z } from "zod";
import { Approval, EgressRecord, MissedApproval } from "../../network/egress.ts";
import { CreateBox } from "../schemas.ts";

export const ChangePolicyBody = CreateBox.pick({
  projectDir: true,
  manifest: true,
  flags: true,
  trust: true,
});

export const LearnPolicyAnswer = z.object({ toml: z.string() });

export const ListEgressAnswer = z.object({ records: z.array(EgressRecord) });

export const ListApprovalsAnswer = z.object({ approvals: z.array(Approval) });

export const ListMissedApprovalsAnswer = z.object({ missed: z.array(MissedApproval) });
