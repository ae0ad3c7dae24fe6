/**
 * What stands in the form of what was generated: members that only the server fills in are left out, so that the two can be held side by
 * side. Items of a list are matched by their name, else by their place; those that nobody generated stay, as somebody put them there.
 */
export function likeGenerated(found: unknown, generated: unknown): unknown {
  if (found === undefined) return isEmpty(generated) ? generated : undefined;
  if (Array.isArray(found) && Array.isArray(generated)) {
    return found.map((item, index) => {
      const name = nameOf(item);
      const match = name === undefined ? generated[index] : generated.find((other) => nameOf(other) === name);
      return match === undefined ? item : likeGenerated(item, match);
    });
  }
  if (!isMap(found) || !isMap(generated)) return found;
  return Object.fromEntries(
    Object.keys(generated).flatMap((key) => {
      const value = likeGenerated(found[key], generated[key]);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

type Members = Readonly<Record<string, unknown>>;

const isMap = (value: unknown): value is Members => typeof value === "object" && value !== null && !Array.isArray(value);

const nameOf = (value: unknown): unknown => (isMap(value) ? value.name : undefined);

/** Servers drop empty lists and maps. */
const isEmpty = (value: unknown): boolean => (Array.isArray(value) ? value.length === 0 : isMap(value) && Object.keys(value).length === 0);
