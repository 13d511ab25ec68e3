import type { z } from "zod";
import type { SchemaName } from "../route.ts";
import * as schemas from "./index.ts";

const byName: Readonly<Record<SchemaName, z.ZodType>> = schemas;

/** The schema that the table of routes calls by this name. */
export const getSchema = (name: SchemaName): z.ZodType => byName[name];
