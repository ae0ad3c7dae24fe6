import { isRecord } from "@/solver/collections/isRecord";
/**
 * The actual object in the form of the generated one: members that only the server sets are left out, so that the two can be compared side
 * by side. Items of a list are matched by their name, or else by their position; additional items that were not generated are kept.
 */
export function generatedPart(found: unknown, generated: unknown): unknown {
  if (found === undefined) return isEmpty(generated) ? generated : undefined;
  if (Array.isArray(found) && Array.isArray(generated)) {
    return found.map((item, index) => {
      const name = nameOf(item);
      const match = name === undefined ? generated[index] : generated.find((other) => nameOf(other) === name);
      return match === undefined ? item : generatedPart(item, match);
    });
  }
  if (!isRecord(found) || !isRecord(generated)) return found;
  return Object.fromEntries(
    Object.keys(generated).flatMap((key) => {
      const value = generatedPart(found[key], generated[key]);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

const nameOf = (value: unknown): unknown => (isRecord(value) ? value.name : undefined);

/** Servers drop empty lists and maps. */
const isEmpty = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
