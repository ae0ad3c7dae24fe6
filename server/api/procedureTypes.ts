import type { Permission } from "@/server/contracts/studio";
import { servedRouter } from "./deprecatedProcedures";

interface Definition {
  readonly type: "query" | "mutation" | "subscription";
  readonly meta?: { readonly permission: Permission };
}

const procedures = servedRouter._def.procedures as unknown as Readonly<Record<string, { readonly _def: Definition }>>;

export const isSubscription = (path: string): boolean => Object.hasOwn(procedures, path) && procedures[path]?._def.type === "subscription";
