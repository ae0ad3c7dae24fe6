import { randomUUID } from "node:crypto";
import type { Role, SignInFault } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import { roles } from "../roles";
import { localUserName } from "../signIn";
import type { Identity } from "./oidcProvider";
import type { OidcSettings } from "./oidcSettings";

interface AdmitParts {
  readonly store: Store;
  readonly settings: Pick<OidcSettings, "roleOfGroup" | "defaultRole">;
  /** Ends the open streams of sessions. */
  readonly endStreams: (sessionIds: readonly string[]) => void;
}

type Admission = { readonly ok: true; readonly userId: string } | { readonly ok: false; readonly fault: SignInFault };

const longestName = 100;

/** Names of actors in the audit that are not people of a provider. */
const reserved = new RegExp(`^(${localUserName}|studio|gateway|weir|command line|nobody|several|unknown|token .*)$`, "i");

/**
 * Finds or makes the user of an identity and gives them the highest role of their groups, at each sign-in. A person is known by issuer and
 * subject; the name is chosen at the first sign-in and stays, because the audit names people by it.
 */
export function admitPerson({ store, settings, endStreams }: AdmitParts, identity: Identity, now = new Date()): Admission {
  const { users, sessions, audit } = store;
  const at = now.toISOString();
  const { issuer, subject } = identity;
  const role = roleOf(identity.groups, settings);
  return store.atomically(() => {
    const user = users.bySubject(issuer, subject);
    const name = user?.name ?? freeName(identity, users.list());
    const refuse = (fault: SignInFault, detail: string): Admission => {
      audit.refused({ actor: name, action: "sign-in", subject: "session", objectKind: "session", detail: `by ${issuer}: ${detail}` });
      return { ok: false, fault };
    };
    if (user !== null && user.disabledAt !== null) return refuse("disabled", "disabled in the studio");
    if (role === null) {
      // Who left all groups keeps no session of before.
      if (user !== null) endStreams(sessions.removeOf(user.id));
      return refuse("no-role", "no group that has a role");
    }
    if (user === null) {
      const id = randomUUID();
      users.insert({ id, name, issuer, subject, role, createdAt: at });
      audit.add({ at, actor: name, action: "add person", subject: name, objectKind: "person", detail: `${role}, by ${issuer}` });
      return { ok: true, userId: id };
    }
    if (user.role !== role) {
      users.update(user.id, { role });
      // Streams were opened with the rights of the former role.
      endStreams(
        sessions
          .list()
          .filter(({ userId }) => userId === user.id)
          .map(({ id }) => id),
      );
      audit.add({
        at,
        actor: name,
        action: "set role",
        subject: name,
        objectKind: "person",
        detail: `${user.role} to ${role}, by ${issuer}`,
      });
    }
    return { ok: true, userId: user.id };
  });
}

/** The highest role of the groups, or the default; null: none. */
function roleOf(groups: readonly string[], { roleOfGroup, defaultRole }: AdmitParts["settings"]): Role | null {
  const given = groups.map((group) => roleOfGroup.get(group));
  return roles.findLast((role) => given.includes(role)) ?? defaultRole;
}

/** The best name that nobody has, without regard to case, and without characters that print nothing. */
function freeName({ names, subject }: Identity, taken: readonly { readonly name: string }[]): string {
  const wanted = [...names, subject].map(readable).find((name) => name !== "" && !reserved.test(name)) ?? "person";
  const isTaken = (name: string): boolean => taken.some((other) => other.name.toLowerCase() === name.toLowerCase());
  let name = wanted;
  for (let count = 2; isTaken(name); count += 1) name = `${wanted} (${count})`;
  return name;
}

function readable(text: string): string {
  const plain = text.normalize("NFKC").replace(/\s+/g, " ").replace(/\p{C}/gu, "").trim();
  return [...plain].slice(0, longestName).join("").trim();
}
