import type { Role } from "@/server/contracts/studio";

/** Names listed before the rest is counted. */
const MOST_NAMES = 3;

/** Why a person's role does not allow an act, and who can do it; without names while they are unknown, or where nobody can. */
export function whoMayText(role: Role, names: readonly string[]): string {
  const why = `Your role, ${role}, does not allow this.`;
  const rest = names.length - MOST_NAMES;
  const listed = rest > 1 ? [...names.slice(0, MOST_NAMES), `${rest} others`] : names;
  if (listed.length === 0) return why;
  const who = listed.length === 1 ? listed[0] : `${listed.slice(0, -1).join(", ")} or ${listed.at(-1)}`;
  return `${why} ${who} can do it.`;
}
