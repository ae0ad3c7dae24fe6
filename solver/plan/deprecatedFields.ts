import { z } from "zod";

/**
 * Renamed fields of documents, new name to old. For one release documents with the old names are still read; then this file and its uses
 * are deleted.
 */
export const deprecatedFields = {
  order: { agingThreshold: "agingReleases" },
  settings: { priorityClasses: "objectives" },
  priorityClass: { queueFraction: "queueShare" },
} as const satisfies Readonly<Record<string, Names>>;

type Names = Readonly<Record<string, string>>;

/** A schema that reads the old names too. If a document has both, the old one is left to the schema. */
export const readingOldNames = <Schema extends z.ZodType>(schema: Schema, names: Names) =>
  z.preprocess((document: z.input<Schema>) => renamed(document, newNames(names)), schema);

/** A stored policy with the new names: a sealed document is not read by a schema again. */
export const withNewNames = <Policy extends { readonly order: object }>(policy: Policy): Policy => ({
  ...policy,
  order: renamed(policy.order, newNames(deprecatedFields.order)),
});

/** A policy in its form before the renaming, for which its hashes were computed. */
export const withOldNames = <Policy extends { readonly order: object }>(policy: Policy): Policy => ({
  ...policy,
  order: renamed(policy.order, new Map(Object.entries(deprecatedFields.order))),
});

const newNames = (names: Names): ReadonlyMap<string, string> => new Map(Object.entries(names).map(([name, old]) => [old, name]));

/** Everything else, and the order of fields, is unchanged. */
function renamed<Document>(document: Document, names: ReadonlyMap<string, string>): Document {
  if (typeof document !== "object" || document === null) return document;
  const rename = (key: string): string => {
    const name = names.get(key);
    return name === undefined || name in document ? key : name;
  };
  if (!Object.keys(document).some((key) => rename(key) !== key)) return document;
  return Object.fromEntries(Object.entries(document).map(([key, value]) => [rename(key), value])) as Document;
}
