/** The small words of the manifest. A check's message is the code of the rule it stands for; findings are made from it. */
import { z } from "zod";
import { parseBytes } from "../../base/bytes.ts";
import { parseDuration } from "../../base/duration.ts";
import { parseImageReference } from "../../contract/image-reference.ts";
import type { RuleCode } from "../checks/rules.ts";

const rule = (code: RuleCode): RuleCode => code;

export const durationPattern = /^(\d+(\.\d+)?(ms|s|m|h|d))+$/;
export const sizePattern = /^\d+(\.\d+)?\s*(B|[KMGT]i?B)$/;
const envNamePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;
const methodPattern = /^[A-Z][A-Z-]{0,31}$/;
const dateTimePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;
const serviceNamePattern = /^[a-z][a-z0-9-]{0,31}$/;
const mcpNamePattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const headerPattern = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
/** SECURITY: it becomes a part of paths and of what a registry is asked for; a tag such as latest is no pin. */
const versionPattern = /^\d[A-Za-z0-9.+-]{0,63}$/;

const packagePattern = /^[a-z0-9][a-z0-9+.-]{1,127}$/;

/** Short enough to be read without harm; a longer number is not a meaningful duration. */
const maxScalar = 64;
const maxPath = 4_096;
const maxText = 65_536;

export const Duration = z
  .string()
  .max(maxScalar, rule("E015"))
  .regex(durationPattern, rule("E015"))
  .refine((text) => parseDuration(text) !== undefined, rule("E015"))
  .meta({ examples: ["90s", "1h30m", "5d"] });

export const Size = z
  .string()
  .max(maxScalar, rule("E016"))
  .regex(sizePattern, rule("E016"))
  .refine((text) => parseBytes(text) !== undefined, rule("E016"))
  .meta({ examples: ["512MiB", "2GiB"] });

export const EnvName = z.string().max(256, rule("E020")).regex(envNamePattern, rule("E020"));
export const ServiceName = z.string().regex(serviceNamePattern, rule("E027"));
export const ExceptionName = z.string().regex(serviceNamePattern, rule("E041"));
/** It is the first segment of the path under which the box reaches the provider. */
export const ProviderName = z.string().regex(serviceNamePattern, rule("E046"));
export const SecretKey = z.string().regex(serviceNamePattern, rule("E056"));
/** SECURITY: a name and never a value; the finding does not show what was written there. */
export const SecretRef = z
  .string()
  .regex(/^vault:[a-z][a-z0-9-]*(?:\/[a-z0-9-]+)?$/, rule("E057"))
  .max(70, rule("E057"));
export const ImageReference = z
  .string()
  .refine((text) => parseImageReference(text) !== undefined, rule("E065"))
  .meta({ examples: ["debian:12"] });
export const PackageName = z.string().regex(packagePattern, rule("E066"));
export const FeatureName = z.string().regex(serviceNamePattern, rule("E067"));
export const McpName = z.string().regex(mcpNamePattern, rule("E051"));
export const HeaderName = z.string().regex(headerPattern, rule("E055"));
export const Version = z.string().regex(versionPattern, rule("E053"));
/** Names of models have slashes, colons and dots in them. */
export const ModelName = z.string().min(1).max(200);
export const Address = z.string().min(1).max(2_048);
/** Longer than any host, shorter than any harm; what it says is checked by its own rules. */
export const Host = z.string().min(1).max(512);
export const Method = z.string().regex(methodPattern, rule("E038"));
export const PathPattern = z.string().min(1).max(1_024);
export const DateTime = z
  .string()
  .max(maxScalar, rule("E039"))
  .regex(dateTimePattern, rule("E039"))
  .refine((text) => !Number.isNaN(Date.parse(text)), rule("E039"))
  .meta({ examples: ["2030-01-31T12:00:00Z"] });
export const PathText = z.string().min(1).max(maxPath);
export const Text = z.string().max(maxText);
export const Word = z.string().min(1).max(maxScalar);
