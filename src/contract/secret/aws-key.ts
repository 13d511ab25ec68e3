import { z } from "zod";

const word = z
  .string()
  .max(4096)
  .regex(/^[!-~]+$/);

/** The value of a secret of the kind `aws`, as JSON. */
export const AwsKey = z.strictObject({
  accessKeyId: word,
  secretAccessKey: word,
  sessionToken: word.optional(),
});
export type AwsKey = z.infer<typeof AwsKey>;
