/** The package caches that projects keep. */
import { z } from "zod";
import { ProjectCache } from "../../cache.ts";

export const ListCachesAnswer = z.object({ caches: z.array(ProjectCache) });

export const SaveCacheAnswer = z.object({ cache: ProjectCache });

export const ClearCacheQuery = z.object({ projectDir: z.string().min(1).max(4_096) });
