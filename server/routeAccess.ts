import { accessRefusal, refusedAccess } from "@/server/auth/accessRefusal";
import { isSameOrigin } from "@/server/auth/sameOrigin";
import type { Caller, Permission } from "@/server/contracts/studio";
import { clientAddressOf } from "@/server/lib/verifiedHeaders";
import { runtime } from "@/server/runtime";

type Access = { readonly ok: true; readonly caller: Caller } | { readonly ok: false; readonly refusal: Response };

/** Whether the sender of a request to a route handler has a permission; otherwise the response that refuses. The audit has each refusal. */
export function routeAccess(request: Request, permission: Permission): Access {
  const { callerOf, services } = runtime();
  const caller = callerOf(request.headers);
  const refusal = accessRefusal({ caller, sameOrigin: isSameOrigin(request.headers), permission });
  if (refusal === null && caller !== null) return { ok: true, caller };
  const { kind, message } = refusal ?? { kind: "nobody", message: "Sign in first." };
  const what = new URL(request.url).pathname;
  services.audit.refused(refusedAccess({ caller, address: clientAddressOf(request.headers), what, refusal: { kind, message } }));
  return { ok: false, refusal: Response.json({ message }, { status: kind === "nobody" ? 401 : 403 }) };
}
