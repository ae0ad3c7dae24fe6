import type { Permission } from "@/server/contracts/studio";
import { servedRouter } from "./deprecatedProcedures";

interface Definition {
  readonly type: "query" | "mutation" | "subscription";
  readonly meta?: { readonly permission: Permission };
}

const procedures = servedRouter._def.procedures as unknown as Readonly<Record<string, { readonly _def: Definition }>>;

/** The permission that a subscription needs; null: the path is that of no subscription. */
export function permissionOfStream(path: string): Permission | null {
  const definition = Object.hasOwn(procedures, path) ? procedures[path]?._def : undefined;
  return definition?.type === "subscription" ? (definition.meta?.permission ?? "manage") : null;
}
