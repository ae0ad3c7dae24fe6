import { createHash, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { z } from "zod";
import { canonicalJson, type Json } from "@/solver/plan/canonical";
import type { GatewayConfig } from "./gatewayAdmin";

/** Header of an order to a gateway's admin listener: the studio's statement about it, and the statement's Ed25519 signature. */
export const signatureHeader = "x-weir-signature";

/** Header of the answer to an order whose revision is too low: the last revision that the gateway accepted. */
export const revisionHeader = "x-weir-revision";

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

export const signedParts = ["policy", "judge", "engines"] as const;
export type SignedPart = (typeof signedParts)[number];

/** The studio's signed statement about an order. */
const statementSchema = z.strictObject({
  clusterId: z.string().min(1).max(200),
  /** Higher in every later order to the cluster: a gateway accepts no order twice. */
  revision: z.int().positive(),
  /** Method and path. */
  order: z.string().max(1000),
  /** Of the body in canonical form. */
  body: sha256,
  /** The parts of the configuration that the order may put into force, by their hashes. */
  parts: z.partialRecord(z.enum(signedParts), sha256),
});
export type Statement = z.infer<typeof statementSchema>;
export type SignedParts = Statement["parts"];

/** SHA-256 of a JSON value in canonical form. */
export const hashOf = (value: unknown): string =>
  createHash("sha256")
    .update(canonicalJson(value as Json))
    .digest("hex");

/** The hash of a plan's policy as it is signed; the policy's own hash covers its approved ranges. */
export const policyPart = ({ planId, policyHash }: Pick<GatewayConfig, "planId" | "policyHash">): string => hashOf({ planId, policyHash });

/** The hashes of a configuration's parts, as the gateway reads it: its policy, its name and judge, and all the rest. */
export function partsOf({ planId, policyHash, policy: _, name, judge, ...rest }: GatewayConfig): Readonly<Record<SignedPart, string>> {
  return { policy: policyPart({ planId, policyHash }), judge: hashOf({ name, judge }), engines: hashOf(rest) };
}

/** The text of a signed statement, for the header. */
export function signStatement(statement: Statement, privateKey: KeyObject): string {
  const text = Buffer.from(canonicalJson(statement as Json));
  return `${text.toString("base64url")}.${sign(null, text, privateKey).toString("base64url")}`;
}

/** Reads the statement of a signed text; null if the text holds no statement, or if no key of `keys` signed it. */
export function readStatement(text: string, keys: readonly KeyObject[]): Statement | null {
  const [said = "", signature = ""] = text.split(".");
  const bytes = Buffer.from(said, "base64url");
  if (!keys.some((key) => verify(null, bytes, key, Buffer.from(signature, "base64url")))) return null;
  const parsed = statementSchema.safeParse(JSON.parse(bytes.toString("utf8")));
  return parsed.success ? parsed.data : null;
}

const keyPrefix = "ed25519:";

/** A public key as text: `ed25519:` and its 32 bytes in base64url. */
export const publicKeyText = (key: KeyObject): string => `${keyPrefix}${key.export({ format: "jwk" }).x}`;

/** Reads a public key from its text; null if the text is not a key. */
export function readPublicKey(text: string): KeyObject | null {
  const x = text.startsWith(keyPrefix) ? text.slice(keyPrefix.length) : "";
  try {
    return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  } catch {
    return null;
  }
}
