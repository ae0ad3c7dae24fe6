import { z } from "zod";

/** What is said to whoever writes a key itself where only a reference may stand. */
export const keyByReference =
  "A key is never written down here: put it into a variable, such as WEIR_ENGINE_KEY, where studio and gateway run and write key: { environment: WEIR_ENGINE_KEY }, or into a file of the folder WEIR_SECRETS_DIR and write key: { file: NAME }.";

/** Where an engine's API key is found by whoever asks that engine; the key itself never stands in a document. */
export const keyReferenceSchema = z.union(
  [
    z.strictObject({
      /** Only variables that are meant for it, so that a document can have no other secret of a process's environment sent anywhere. */
      environment: z.string().regex(/^WEIR_ENGINE_[A-Z0-9_]{1,80}$/, "the variable's name must begin with WEIR_ENGINE_"),
    }),
    z.strictObject({
      /** In the folder that `WEIR_SECRETS_DIR` names, never outside it. */
      file: z.string().min(1).max(1000),
    }),
  ],
  { error: ({ input }) => (typeof input === "string" ? keyByReference : undefined) },
);

/** What it takes to be let in by an engine beside its address. */
export const engineAccessFields = {
  key: keyReferenceSchema.optional(),
  /** PEM file in the folder that `WEIR_SECRETS_DIR` names: the authorities that vouch for the engine, in place of the public ones. */
  caFile: z.string().min(1).max(1000).optional(),
};

const engineAccessSchema = z.object(engineAccessFields);

export type KeyReference = z.infer<typeof keyReferenceSchema>;
export type EngineAccess = z.infer<typeof engineAccessSchema>;
