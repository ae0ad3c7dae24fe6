import type { Action, Policy, PolicyEvent, View, WaitingWork } from "@/solver/policies/core/policy";

/** An answer that a policy has judged. */
export interface JudgedWork {
  readonly work: WaitingWork;
  /** The origin of an answer. */
  readonly model: string;
  /** The document of the gate that scored it, in its canonical form. */
  readonly gate: string;
  readonly verdict: Extract<Action, { kind: "accept" | "escalate" }>;
  readonly view: View;
}

/** Observes a policy that decides on live traffic. */
export interface PolicyWatcher {
  /** An event after the policy has seen it; `model` is the model of queued work. */
  observe(event: PolicyEvent, model: string | null): void;
  judged(judged: JudgedWork): void;
}

/**
 * The same policy, observed whenever `watcher` returns an observer.
 *
 * @param gates of its stages, in their canonical form.
 */
export function watchedPolicy(policy: Policy, gates: readonly string[], watcher: () => PolicyWatcher | null): Policy {
  return {
    ...policy,
    decide(view) {
      const actions = policy.decide(view);
      const watching = watcher();
      if (watching !== null) showJudged(watching, { policy, gates, view, actions });
      return actions;
    },
    observe(event) {
      policy.observe(event);
      watcher()?.observe(event, event.kind === "queued" ? policy.modelOfStage(event.work.stage) : null);
    },
  };
}

interface Decided {
  readonly policy: Policy;
  readonly gates: readonly string[];
  readonly view: View;
  readonly actions: readonly Action[];
}

function showJudged(watcher: PolicyWatcher, { policy, gates, view, actions }: Decided): void {
  for (const verdict of actions) {
    if (verdict.kind !== "accept" && verdict.kind !== "escalate") continue;
    const work = view.waiting.find(({ id }) => id === verdict.workId);
    if (work === undefined || !policy.judges(work.stage)) continue;
    watcher.judged({ work, model: policy.modelOfStage(work.stage), gate: gates[work.stage] ?? "", verdict, view });
  }
}
