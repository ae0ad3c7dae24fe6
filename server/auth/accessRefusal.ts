import type { AuditLine, Caller, Permission } from "@/server/contracts/studio";
import { may, roleRefusal } from "./roles";

export interface AccessRefusal {
  readonly kind: "other-site" | "nobody" | "role";
  readonly message: string;
}

interface AccessRequest {
  /** null: neither signed in nor with a valid API token. */
  readonly caller: Caller | null;
  readonly sameOrigin: boolean;
  readonly permission: Permission;
}

/** Why a request is refused before anything else of it is read; null: it has the permission. */
export function accessRefusal({ caller, sameOrigin, permission }: AccessRequest): AccessRefusal | null {
  if (!sameOrigin) return { kind: "other-site", message: "The request came from another site and was refused." };
  if (caller === null) return { kind: "nobody", message: "Sign in first, or send a valid API token." };
  return may(caller.role, permission) ? null : { kind: "role", message: roleRefusal(caller.role, permission) };
}

interface RefusedAccess {
  readonly caller: Caller | null;
  readonly address: string;
  /** The procedure or route. */
  readonly what: string;
  readonly refusal: AccessRefusal;
}

/** The audit's line of it. */
export function refusedAccess({ caller, address, what, refusal }: RefusedAccess): Omit<AuditLine, "at" | "outcome" | "times"> {
  return { actor: caller?.name ?? "nobody", role: caller?.role ?? null, address, action: "call", subject: what, detail: refusal.message };
}
