import type { Permission, Role } from "@/server/contracts/studio";

/** From the least to the most powerful. */
export const roles = ["viewer", "operator", "approver", "admin"] as const satisfies readonly Role[];

interface PermissionEntry {
  readonly roles: readonly Role[];
  /** What it allows, after "may not" in a refusal. */
  readonly verb: string;
}

/** The whole access table. Every procedure and every route names one of these permissions. */
export const permissions = {
  read: { roles: ["viewer", "operator", "approver", "admin"], verb: "read this" },
  /** Workloads, prompts, profiles, plans, predictors, races: everything that precedes approval. */
  prepare: { roles: ["operator", "approver", "admin"], verb: "prepare plans, workloads and profiles" },
  /** Approved plans and what a gateway does with traffic, inside what was approved. */
  operate: { roles: ["operator", "approver", "admin"], verb: "operate clusters" },
  approve: { roles: ["approver", "admin"], verb: "approve plans" },
  audit: { roles: ["operator", "approver", "admin"], verb: "read the audit" },
  /** Texts of users. */
  capture: { roles: ["admin"], verb: "capture or delete prompts" },
  /** Addresses, commands and secrets of clusters. */
  attach: { roles: ["admin"], verb: "attach or detach clusters" },
  manage: { roles: ["admin"], verb: "manage people, sessions and keys" },
} as const satisfies Readonly<Record<Permission, PermissionEntry>>;

export const may = (role: Role, permission: Permission): boolean => (permissions[permission].roles as readonly Role[]).includes(role);

/** The less powerful of two roles. */
export const lesserRole = (a: Role, b: Role): Role => (roles.indexOf(a) < roles.indexOf(b) ? a : b);

/** Everything that a role allows. */
export const permissionsOf = (role: Role): readonly Permission[] =>
  (Object.keys(permissions) as Permission[]).filter((permission) => may(role, permission));

/** Why a role is refused, and which roles are not. */
export function roleRefusal(role: Role, permission: Permission): string {
  const { verb, roles: allowed } = permissions[permission];
  const listed = allowed.length === 1 ? allowed[0] : `${allowed.slice(0, -1).join(", ")} or ${allowed.at(-1)}`;
  return `The role ${role} may not ${verb}; the role ${listed} may.`;
}
