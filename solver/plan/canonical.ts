/** A value that survives JSON: the values of plans, workload summaries and policies. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/**
 * Canonical JSON text: keys sorted by code unit, no white space, `undefined` members dropped. Equal values give
 * equal text, so the SHA-256 of it names a document (RFC 8785 for the values plans hold).
 *
 * @throws RangeError on NaN or an infinity, which JSON cannot carry.
 * @example canonicalJson({ b: [1, 2], a: "x" }) // '{"a":"x","b":[1,2]}'
 */
export function canonicalJson(value: Json): string {
  if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError(`JSON cannot carry the number ${value}`);
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`);
  }
  return `{${members.join(",")}}`;
}

const isArray = (value: Json): value is readonly Json[] => Array.isArray(value);
