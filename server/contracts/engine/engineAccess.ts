import { z } from "zod";
import { keyReferenceSchema } from "@/solver/wording/keyReference";

/** Access to an engine in addition to its address. */
export const engineAccessFields = {
  key: keyReferenceSchema.optional(),
  /** PEM file in the folder that `WEIR_SECRETS_DIR` names: the certificate authorities for the engine, in place of the public ones. */
  caFile: z.string().min(1).max(1000).optional(),
};

/** Scheme, host and port, as `URL.origin`. */
export const originSchema = z
  .string()
  .refine((text) => /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text, "must be an http or https origin");

/** A secret, by reference, and an origin that it is to be sent to. */
export const secretUseSchema = z.object({
  key: z.union([keyReferenceSchema, z.strictObject({ environment: z.string().regex(/^WEIR_JUDGE_[A-Z0-9_]{1,80}$/) })]),
  origin: originSchema,
});

const engineAccessSchema = z.object(engineAccessFields);

export type KeyReference = z.infer<typeof keyReferenceSchema>;
export type SecretUse = Readonly<z.infer<typeof secretUseSchema>>;
export type EngineAccess = z.infer<typeof engineAccessSchema>;
