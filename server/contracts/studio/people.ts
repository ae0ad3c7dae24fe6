import type { KeyLabels, KeyLimits, KeyUse, LimitUse } from "@/server/contracts/gateway/gatewayKeys";

export type { KeyUse, LimitUse };

/** What a person or an API token may do; `server/auth/roles.ts` says which role has which permission. */
export type Role = "viewer" | "operator" | "approver" | "admin";

export type Permission = "read" | "prepare" | "operate" | "approve" | "audit" | "capture" | "attach" | "manage";

/** Who sends a request: a signed-in person, or a program with an API token. */
export interface Caller {
  readonly kind: "session" | "token";
  /** Of the session or the token. */
  readonly id: string;
  /** The person, or the one who made the token. */
  readonly userId: string;
  /** Names the caller in the audit. */
  readonly name: string;
  readonly role: Role;
}

/** The caller of this page, with all that the role allows. */
export interface Me {
  readonly kind: Caller["kind"];
  readonly userId: string;
  readonly name: string;
  readonly role: Role;
  readonly permissions: readonly Permission[];
}

export interface PersonSummary {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** null: the person who holds the terminal of the studio's machine. */
  readonly issuer: string | null;
  readonly createdAt: string;
  readonly lastSignInAt: string | null;
  readonly disabledAt: string | null;
}

export interface SessionSummary {
  readonly id: string;
  readonly userId: string;
  readonly userName: string;
  readonly createdAt: string;
  readonly lastUsedAt: string;
  readonly expiresAt: string;
  /** Whether it is the session that asks. */
  readonly own: boolean;
}

/** What a key of a gateway allows; null: no limit, or no label. */
export interface KeyTerms {
  readonly requestsPerMinute: number | null;
  readonly limits: KeyLimits | null;
  /** Names that it may ask for. */
  readonly models: readonly string[] | null;
  readonly labels: KeyLabels | null;
  /** Class of the work; null: as each request says. */
  readonly objective: string | null;
}

/** A key of the clients of a cluster's gateway. */
export interface GatewayKeySummary extends KeyTerms {
  readonly name: string;
  /** The use of each limit in its present window. */
  readonly use: readonly LimitUse[];
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
  readonly state: "valid" | "expired" | "revoked";
}

export interface ApiTokenSummary {
  readonly id: string;
  readonly label: string;
  readonly role: Role;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

/** Why a sign-in by the OpenID provider came to nothing. */
export type SignInFault =
  /** Not begun in this browser, answered before, or begun too long ago. */
  | "expired"
  /** The provider's own refusal. */
  | "denied"
  | "provider-unavailable"
  /** The provider's answer fails a check. */
  | "answer-refused"
  | "no-role"
  | "disabled";
