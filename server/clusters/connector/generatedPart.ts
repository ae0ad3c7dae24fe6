import { isRecord } from "@/solver/collections/isRecord";
/**
 * What stands in the form of what was generated: members that only the server fills in are left out, so that the two can be held side by
 * side. Items of a list are matched by their name, else by their place; those that nobody generated stay, as somebody put them there.
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
