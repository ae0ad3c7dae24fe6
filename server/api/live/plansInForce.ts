import type { PlanInForce } from "@/server/contracts/studio";
import type { StoredApplication } from "@/server/store/applicationRepository";

/** What of an application tells when another plan came into force. */
type Switching = {
  readonly steps: readonly Pick<StoredApplication["steps"][number], "state" | "endedAt" | "action">[];
};

export interface PlansAsked {
  readonly applications: readonly Switching[];
  /** What the cluster runs and since when, as last noted: a gateway may have switched by itself. null: nothing. */
  readonly running: { readonly planId: string; readonly sinceMs: number } | null;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Which plan was in force when, oldest first; spans that reach into the range are given whole. A plan is in force from the moment its
 * policy was switched to, whatever became of the application's later steps; an application that never came so far does not count. Of
 * switches that a gateway made by itself, a rollback or a promoted canary, only the latest is known.
 */
export function plansInForce({ applications, running, fromMs, toMs }: PlansAsked): readonly PlanInForce[] {
  const switches = applications
    .flatMap(({ steps }) => steps)
    .flatMap(({ action, state, endedAt }) =>
      action.kind === "switch-policy" && state === "done" && endedAt !== null
        ? [{ atMs: Date.parse(endedAt), planId: action.routing.planId }]
        : [],
    )
    .sort((one, other) => one.atMs - other.atMs);
  // An application's own switch is noted as running a moment after its step ended.
  if (running !== null && running.planId !== switches.at(-1)?.planId) switches.push({ atMs: running.sinceMs, planId: running.planId });
  const spans: PlanInForce[] = [];
  for (const { atMs, planId } of switches) {
    const open = spans.at(-1);
    if (open?.toMs === null) {
      if (open.planId === planId) continue;
      spans[spans.length - 1] = { ...open, toMs: atMs };
    }
    if (planId !== null) spans.push({ planId, fromMs: atMs, toMs: null });
  }
  return spans.filter((span) => span.fromMs < toMs && (span.toMs ?? Number.POSITIVE_INFINITY) > fromMs);
}
