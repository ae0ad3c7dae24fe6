import { randomUUID } from "node:crypto";
import { may, permissionsOf } from "@/server/auth/roles";
import { hashSecret, newSecret } from "@/server/auth/secret";
import type { ApiTokenSummary, Caller, Me, Outcome, Permission, PersonSummary, Role, SessionSummary } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";

interface PeopleParts {
  readonly store: Store;
  /** Ends the open streams of sessions or tokens. */
  readonly endStreams: (callerIds: readonly string[]) => void;
}

/** Who makes a token. */
type Person = Pick<Caller, "userId" | "name">;

interface TokenRequest {
  readonly label: string;
  readonly role: Role;
  /** Days until it expires. */
  readonly days: number;
}

const dayMs = 24 * 3_600_000;

const refused = (message: string): { readonly ok: false; readonly message: string } => ({ ok: false, message });

/** People, their sessions, API tokens, and the settings of access. Every change has an audit line. */
export function createPeopleService({ store, endStreams }: PeopleParts) {
  const { users, sessions, apiTokens, audit } = store;
  /** Whether an admin remains who may sign in, if this person is none any more. */
  const isLastAdmin = (id: string): boolean =>
    !users.list().some((user) => user.id !== id && user.role === "admin" && user.disabledAt === null);

  return {
    me: ({ kind, userId, name, role }: Caller): Me => ({ kind, userId, name, role, permissions: permissionsOf(role) }),
    /** Names of the people whose role has a permission. */
    whoMay: (permission: Permission): readonly string[] =>
      users
        .list()
        .filter((user) => user.disabledAt === null && may(user.role, permission))
        .map((user) => user.name),
    signOut(caller: Caller): void {
      if (caller.kind !== "session" || !sessions.remove(caller.id)) return;
      endStreams([caller.id]);
      audit.note(caller.name, "sign-out", { subject: "session", objectKind: "session" });
    },
    list: (): readonly PersonSummary[] => users.list().map(({ subject: _, ...person }) => person),
    setRole(id: string, role: Role, caller: Caller): Outcome<object> {
      const user = users.get(id);
      if (user === null) return refused("There is no such person.");
      if (role !== "admin" && user.role === "admin" && isLastAdmin(id))
        return refused(`${user.name} is the last admin: make another person an admin first.`);
      users.update(id, { role });
      // Streams were opened with the rights of the former role.
      endStreams([
        ...sessions.list().flatMap((session) => (session.userId === id ? [session.id] : [])),
        ...apiTokens.list().flatMap((token) => (token.createdBy === user.name ? [token.id] : [])),
      ]);
      audit.note(caller.name, "set role", { subject: user.name, objectKind: "person" }, `${user.role} to ${role}`);
      return { ok: true };
    },
    /** A disabled person cannot sign in; open sessions end at once, and API tokens of that person stop working. */
    setDisabled(id: string, isDisabled: boolean, caller: Caller): Outcome<object> {
      const user = users.get(id);
      if (user === null) return refused("There is no such person.");
      if (isDisabled && id === caller.userId) return refused("You cannot disable yourself.");
      if (isDisabled && user.role === "admin" && isLastAdmin(id))
        return refused(`${user.name} is the last admin: make another person an admin first.`);
      store.atomically(() => {
        users.update(id, { disabledAt: isDisabled ? new Date().toISOString() : null });
        if (isDisabled) endStreams(sessions.removeOf(id));
        audit.note(caller.name, isDisabled ? "disable person" : "enable person", { subject: user.name, objectKind: "person" });
      });
      return { ok: true };
    },
    sessions: (caller: Caller): readonly SessionSummary[] =>
      sessions.list().map((session) => ({ ...session, own: session.id === caller.id })),
    endSession(id: string, caller: Caller): Outcome<object> {
      const session = sessions.list().find((known) => known.id === id);
      if (session === undefined || !sessions.remove(id)) return refused("The session has ended already.");
      endStreams([id]);
      audit.note(caller.name, "end session", { subject: session.userName, objectKind: "session" });
      return { ok: true };
    },
    /** Ends every session but the caller's. */
    endOtherSessions(caller: Caller): Outcome<{ readonly ended: number }> {
      const ended = sessions.removeAllBut(caller.id);
      endStreams(ended);
      audit.note(caller.name, "end sessions", { subject: "all others", objectKind: "session" }, `${ended.length}`);
      return { ok: true, ended: ended.length };
    },
    tokens: (): readonly ApiTokenSummary[] => apiTokens.list(),
    /** @returns the token itself, which is shown once and not stored */
    createToken({ label, role, days }: TokenRequest, caller: Person): Outcome<{ readonly token: string }> {
      const token = `weir_${newSecret()}`;
      const now = new Date();
      apiTokens.insert({
        ...{ id: randomUUID(), hash: hashSecret(token), label, role, createdBy: caller.userId },
        createdAt: now.toISOString(),
        expiresAt: new Date(now.getTime() + days * dayMs).toISOString(),
      });
      audit.note(caller.name, "create API token", { subject: label, objectKind: "token" }, `${role}, ${days} days`);
      return { ok: true, token };
    },
    revokeToken(id: string, caller: Person): Outcome<object> {
      const label = apiTokens.revoke(id, new Date().toISOString());
      if (label === null) return refused("The token is unknown or was revoked already.");
      endStreams([id]);
      audit.note(caller.name, "revoke API token", { subject: label, objectKind: "token" });
      return { ok: true };
    },
    fourEyes: (): boolean => users.fourEyes(),
    setFourEyes(isOn: boolean, caller: Caller): Outcome<object> {
      users.setFourEyes(isOn);
      audit.note(caller.name, "set four eyes", { subject: "approval", objectKind: "person" }, isOn ? "on" : "off");
      return { ok: true };
    },
  };
}
