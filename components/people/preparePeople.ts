import type { Me, PersonSummary, Role } from "@/server/contracts/studio";
import { roleSentence } from "./roleTexts";
import type { ShownState } from "./validity";
import { timeOr } from "./validity";

export interface PersonRow {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** Whether it is the person who looks. */
  readonly own: boolean;
  readonly from: string;
  /** Whether an OpenID provider says who it is: its groups give the role at each sign-in. */
  readonly byProvider: boolean;
  readonly lastSignIn: string;
  readonly state: ShownState;
  readonly disabled: boolean;
  /** Why the role cannot be lowered, and why the person cannot be disabled; null: it can. */
  readonly roleHindrance: string | null;
  readonly disableHindrance: string | null;
}

/** People by name, the one who looks first. */
export function preparePeople(people: readonly PersonSummary[], me: Pick<Me, "userId"> | null): readonly PersonRow[] {
  const admins = people.filter(({ role, disabledAt }) => role === "admin" && disabledAt === null);
  const rows = people.map((person): PersonRow => {
    const own = person.id === me?.userId;
    const disabled = person.disabledAt !== null;
    const isLast = admins.length === 1 && admins[0]?.id === person.id;
    const last = isLast ? `${person.name} is the last admin: make another person an admin first.` : null;
    return {
      ...{ id: person.id, name: person.name, role: person.role, own, disabled },
      from: fromText(person.issuer),
      byProvider: person.issuer !== null,
      lastSignIn: timeOr(person.lastSignInAt, "never"),
      state: disabled ? { tone: "neutral", word: "disabled" } : { tone: "good", word: "may sign in" },
      roleHindrance: last,
      disableHindrance: own ? "You cannot disable yourself." : last,
    };
  });
  return rows.toSorted((a, b) => Number(b.own) - Number(a.own) || a.name.localeCompare(b.name));
}

/** Where a person comes from: the provider's host, or the machine's terminal. */
function fromText(issuer: string | null): string {
  if (issuer === null) return "terminal of the studio's machine";
  return URL.canParse(issuer) ? new URL(issuer).host : issuer;
}

/** What happens when a person gets another role. */
export function roleChangeText(
  { name, role, own, byProvider }: Pick<PersonRow, "name" | "role" | "own" | "byProvider">,
  next: Role,
): string {
  const loses = own && next !== "admin" ? " You lose access to this page." : "";
  const until = byProvider ? ` At the next sign-in the groups at the provider decide again.` : "";
  return `${name} is ${role} now. ${roleSentence(next)} It takes effect at once; open pages of ${name} load again, and API tokens of ${name} allow no more than this role.${until}${loses}`;
}
