/** The expiry that a token claims. Only for timing: an unchecked token is not trusted. */
import { parseJsonObject } from "../../base/json.ts";

export function jwtExpiryMs(token: string): number | undefined {
  const parts = token.split(".");
  if (parts.length !== 3) return undefined;
  const claims = parseJsonObject(Buffer.from(parts[1] ?? "", "base64url").toString("utf8"));
  const seconds = claims?.["exp"];
  return typeof seconds === "number" && Number.isSafeInteger(seconds * 1_000) ? seconds * 1_000 : undefined;
}
