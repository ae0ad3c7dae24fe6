import { rawElements, rawMembers } from "@/server/lib/rawJson";
import { isRecord } from "@/solver/collections/isRecord";

/**
 * A value of a body as JSON text with the numbers as the client wrote them: parsing rounds those beyond 2^53, such as ids.
 * @param raw the body's text, read only if there is such a number.
 * @param path of the value in the body.
 */
export function exactInput(value: unknown, raw: () => string, path: readonly (string | number)[]): string {
  if (!hasRoundedNumber(value)) return JSON.stringify(value);
  let text = raw();
  for (const step of path) {
    const found = typeof step === "number" ? rawElements(text)[step] : rawMembers(text).get(step);
    if (found === undefined) return JSON.stringify(value);
    text = found;
  }
  return text;
}

function hasRoundedNumber(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
  if (Array.isArray(value)) return value.some(hasRoundedNumber);
  return isRecord(value) && Object.values(value).some(hasRoundedNumber);
}
