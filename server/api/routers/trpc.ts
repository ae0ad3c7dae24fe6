import { initTRPC, TRPCError } from "@trpc/server";
import type { z } from "zod";
import type { FieldFault } from "@/server/contracts/studio";
import { faultSentence } from "@/server/lib/fieldFault";
import type { Services } from "./services";

/** The sender of a request, and its permissions. */
interface ApiContext {
  readonly services: Services;
  /** null: not signed in. */
  readonly session: { readonly hash: string; readonly name: string } | null;
  /** Whether the request's Origin is the studio's own: other sites may change nothing in an operator's name. */
  readonly sameOrigin: boolean;
}

/** Clients reconnect after 15 s of silence; the interval of pings is well below that. */
const pingMs = 4_000;
const reconnectAfterMs = 15_000;

const t = initTRPC.context<ApiContext>().create({
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

/** The base of every procedure: signed in, and no mutation from another site. */
export const procedure = t.procedure.use(({ ctx, type, next }) => {
  if (ctx.session === null) throw new TRPCError({ code: "UNAUTHORIZED", message: "Sign in with the link the studio printed at start." });
  if (type === "mutation" && !ctx.sameOrigin) {
    throw new TRPCError({ code: "FORBIDDEN", message: "This change was asked for by another site and was not made." });
  }
  return next({ ctx: { ...ctx, session: ctx.session } });
});

/** The value, or NOT_FOUND with what was looked for. */
export function found<Value>(value: Value | null, what: string): Value {
  if (value === null) throw new TRPCError({ code: "NOT_FOUND", message: `There is no ${what}.` });
  return value;
}

/** For calls inside the process, which are never cancelled. */
export const never = (): AbortSignal => new AbortController().signal;
