import { z } from "zod";

/** The error for a document with a key in a place where only a reference is allowed. */
export const keyByReference =
  "A key is never written down here: put it into a variable, such as WEIR_ENGINE_KEY, where studio and gateway run and write key: { environment: WEIR_ENGINE_KEY }, or into a file of the folder WEIR_SECRETS_DIR and write key: { file: NAME }.";

/** Where a process that calls an engine finds its API key; a document never contains the key itself. */
export const keyReferenceSchema = z.union(
  [
    z.strictObject({
      /** Only variables with this prefix, so that a document cannot send another secret of a process's environment anywhere. */
      environment: z.string().regex(/^WEIR_ENGINE_[A-Z0-9_]{1,80}$/, "the variable's name must begin with WEIR_ENGINE_"),
    }),
    z.strictObject({
      /** In the folder that `WEIR_SECRETS_DIR` names, never outside it. */
      file: z.string().min(1).max(1000),
    }),
  ],
  { error: ({ input }) => (typeof input === "string" ? keyByReference : undefined) },
);
