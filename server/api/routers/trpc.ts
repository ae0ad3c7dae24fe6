import { initTRPC, TRPCError } from "@trpc/server";
import type { z } from "zod";
import { accessRefusal, refusedAccess } from "@/server/auth/accessRefusal";
import type { Caller, FieldFault, Permission, Refusal } from "@/server/contracts/studio";
import { faultSentence } from "@/server/lib/fieldFault";
import type { Services } from "./services";

/** The sender of a request, and its permissions. */
interface ApiContext {
  readonly services: Services;
  /** null: neither signed in nor with a valid API token. */
  readonly caller: Caller | null;
  /** Address that the request came from. */
  readonly address: string;
  /** Whether the request's Origin is the studio's own: other sites may neither read nor change anything in a person's name. */
  readonly sameOrigin: boolean;
}

/** Clients reconnect after 15 s of silence; the interval of pings is well below that. */
const pingMs = 4_000;
const reconnectAfterMs = 15_000;

const t = initTRPC
  .context<ApiContext>()
  .meta<{ readonly permission: Permission }>()
  .create({
    sse: { ping: { enabled: true, intervalMs: pingMs }, client: { reconnectAfterInactivityMs: reconnectAfterMs } },
    errorFormatter({ shape, error }) {
      const { stack: _, ...data } = shape.data;
      if (error.code === "INTERNAL_SERVER_ERROR") return { ...shape, message: "The studio failed here; its log says why.", data };
      if (error.cause?.name !== "ZodError") return { ...shape, data };
      const field = inputFault(error.cause as z.ZodError);
      return { ...shape, message: faultSentence(field), data: { ...data, field } };
    },
  });

/** The first fault of an input. If there are several forms, the input is compared with the nearest. */
export function inputFault({ issues }: { readonly issues: readonly z.core.$ZodIssue[] }, above: readonly PropertyKey[] = []): FieldFault {
  const [issue] = issues;
  if (issue === undefined) return { path: "input", reason: "it does not fit." };
  const path = [...above, ...issue.path];
  // An issue with a message of its own is more specific.
  const [nearest] =
    issue.code === "invalid_union" && issue.message === "Invalid input" ? [...issue.errors].sort((a, b) => a.length - b.length) : [];
  return nearest === undefined
    ? { path: path.map(String).join(".") || "input", reason: issue.message }
    : inputFault({ issues: nearest }, path);
}

export const router = t.router;
export const mergeRouters = t.mergeRouters;

/** The base of every procedure: it names the permission that its caller needs. */
export const procedureFor = (permission: Permission) =>
  t.procedure.meta({ permission }).use(({ ctx, path, type, next }) => {
    const { caller, address } = ctx;
    const refusal = accessRefusal({ caller, sameOrigin: ctx.sameOrigin, permission });
    if (refusal !== null) {
      ctx.services.audit.refused(refusedAccess({ caller, address, what: path, refusal }));
      throw new TRPCError({ code: refusal.kind === "nobody" ? "UNAUTHORIZED" : "FORBIDDEN", message: refusal.message });
    }
    if (caller === null) throw new TRPCError({ code: "UNAUTHORIZED" });
    const { audit } = ctx.services;
    const { name, role } = caller;
    return audit.within({ name, role, address }, async (act) => {
      const result = await next({ ctx: { ...ctx, caller } });
      const refused = type === "mutation" && result.ok ? refusalIn(result.data) : null;
      if (refused !== null && !act.refused) audit.refused({ actor: name, action: "call", subject: path, detail: refused });
      return result;
    });
  });

/** Why a service refused what was asked of it; null: it did not. */
function refusalIn(answer: unknown): string | null {
  const { ok, message } = (answer ?? {}) as Partial<Refusal>;
  return ok === false && typeof message === "string" ? message : null;
}

/** The value, or NOT_FOUND with what was looked for. */
export function found<Value>(value: Value | null, what: string): Value {
  if (value === null) throw new TRPCError({ code: "NOT_FOUND", message: `There is no ${what}.` });
  return value;
}

/** For calls inside the process, which are never cancelled. */
export const never = (): AbortSignal => new AbortController().signal;
