import { z } from "zod";
import { scopes } from "./scope-names.ts";

export const Scope = z.enum(scopes);
export type Scope = z.infer<typeof Scope>;
