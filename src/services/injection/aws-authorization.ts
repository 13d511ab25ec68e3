/** The Authorization header of AWS's signature version 4, read strictly. */
export interface AwsAuthorization {
  readonly accessKeyId: string;
  /** Date, region and service, as signed. */
  readonly date: string;
  readonly scope: string;
  readonly region: string;
  readonly service: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

const form =
  /^AWS4-HMAC-SHA256\s+Credential=([A-Za-z0-9]+)\/(\d{8})\/([\w-]+)\/([\w-]+)\/aws4_request\s*,\s*SignedHeaders=([\w;.-]+)\s*,\s*Signature=([0-9a-f]{64})$/;

export function parseAwsAuthorization(value: string): AwsAuthorization | undefined {
  const match = form.exec(value);
  if (match === null) return undefined;
  const [, accessKeyId, date, region, service, names, signature] = match as unknown as string[];
  return {
    accessKeyId: accessKeyId!,
    date: date!,
    region: region!,
    service: service!,
    scope: `${date}/${region}/${service}/aws4_request`,
    signedHeaders: names!.toLowerCase().split(";"),
    signature: signature!,
  };
}
