import { isRecord } from "@/solver/collections/isRecord";

/** Whose prompts: of a key by its name, or of a user by pseudonym. */
export type Whose = { readonly key: string } | { readonly user: string };

/** Of a captured prompt: the name of its key, and its user's pseudonym, each null where there was none. */
interface Owner {
  readonly key: string | null;
  readonly user: string | null;
}

export const isOf = (owner: Owner, whose: Whose): boolean => ("key" in whose ? owner.key === whose.key : owner.user === whose.user);

const text = String.raw`"(?:[^"\\]|\\.)*"`;
/** The beginning of a captured line, without its prompt: reading all of a megabyte as JSON would block the gateway. */
const head = new RegExp(`^\\{"id":${text},"atMs":\\d+,"category":${text},"metadata":(\\{(?:[^"{}]|${text})*\\})`);

/** The owner of a captured line; null if the line does not say, as one that Weir did not write. */
export function ownerOf(line: string): Owner | null {
  const metadata = head.exec(line)?.[1];
  if (metadata === undefined) return null;
  const read: unknown = JSON.parse(metadata);
  if (!isRecord(read)) return null;
  const { key, user } = read;
  return { key: typeof key === "string" ? key : null, user: typeof user === "string" ? user : null };
}
