import { may, roleRefusal } from "@/server/auth/roles";
import { isSameOrigin } from "@/server/auth/sameOrigin";
import type { Caller, Permission } from "@/server/contracts/studio";
import { runtime } from "@/server/runtime";

type Access = { readonly ok: true; readonly caller: Caller } | { readonly ok: false; readonly refusal: Response };

/** Whether the sender of a request to a route handler has a permission; otherwise the response that refuses. */
export function routeAccess(request: Request, permission: Permission): Access {
  if (!isSameOrigin(request.headers)) return refuse(403, "The request came from another site and was refused.");
  const caller = runtime().callerOf(request.headers);
  if (caller === null) return refuse(401, "Sign in first, or send a valid API token.");
  if (!may(caller.role, permission)) return refuse(403, roleRefusal(caller.role, permission));
  return { ok: true, caller };
}

const refuse = (status: number, message: string): Access => ({ ok: false, refusal: Response.json({ message }, { status }) });
