/** Writes X.509 certificates for P-256 keys: one for the authority, one for each name it answers for. */
import { type KeyObject, createHash, randomBytes, sign } from "node:crypto";
import {
  bitString,
  boolean,
  explicit,
  implicit,
  integer,
  objectId,
  octetString,
  sequence,
  set,
  time,
  utf8String,
} from "./der.ts";

export interface CertificateRequest {
  readonly commonName: string;
  readonly issuerName: string;
  readonly publicKey: KeyObject;
  readonly issuerPublicKey: KeyObject;
  readonly issuerPrivateKey: KeyObject;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** The DNS name it is for; without one it is an authority that may sign leaves and nothing below them. */
  readonly dnsName?: string | undefined;
}

const ecdsaWithSha256 = sequence(objectId("1.2.840.10045.4.3.2"));

export function makeCertificate(request: CertificateRequest): string {
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(serialNumber()),
    ecdsaWithSha256,
    distinguishedName(request.issuerName),
    sequence(time(request.notBeforeMs), time(request.notAfterMs)),
    distinguishedName(request.commonName),
    publicKeyInfo(request.publicKey),
    explicit(3, sequence(...extensions(request))),
  );
  const signature = sign("sha256", body, request.issuerPrivateKey);
  return toPem(sequence(body, ecdsaWithSha256, bitString(signature)));
}

function extensions(request: CertificateRequest): Buffer[] {
  const subjectId = extension("2.5.29.14", false, octetString(keyId(request.publicKey)));
  const issuerId = extension("2.5.29.35", false, sequence(implicit(0, keyId(request.issuerPublicKey))));
  if (request.dnsName === undefined) {
    return [
      extension("2.5.29.19", true, sequence(boolean(true), integer(Buffer.from([0])))),
      // keyCertSign and cRLSign
      extension("2.5.29.15", true, bitString(Buffer.from([0x06]), 1)),
      subjectId,
    ];
  }
  return [
    extension("2.5.29.19", true, sequence()),
    // digitalSignature
    extension("2.5.29.15", true, bitString(Buffer.from([0x80]), 7)),
    // serverAuth
    extension("2.5.29.37", false, sequence(objectId("1.3.6.1.5.5.7.3.1"))),
    extension("2.5.29.17", false, sequence(implicit(2, Buffer.from(request.dnsName, "ascii")))),
    subjectId,
    issuerId,
  ];
}

const extension = (id: string, isCritical: boolean, value: Buffer): Buffer =>
  sequence(objectId(id), ...(isCritical ? [boolean(true)] : []), octetString(value));

const distinguishedName = (commonName: string): Buffer =>
  sequence(set(sequence(objectId("2.5.4.3"), utf8String(commonName))));

const publicKeyInfo = (key: KeyObject): Buffer => key.export({ type: "spki", format: "der" });

const keyId = (key: KeyObject): Buffer =>
  createHash("sha256").update(publicKeyInfo(key)).digest().subarray(0, 20);

/** 127 random bits; never zero and never negative. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes;
}

const toPem = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${der
    .toString("base64")
    .replaceAll(/.{1,64}/g, "$&\n")}-----END CERTIFICATE-----\n`;
