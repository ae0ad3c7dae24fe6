import type { Policy, ReplicaView } from "../policies/core/policy";
import { jointPolicy } from "../policies/jointPolicy";
import { fcfsOrder } from "../policies/orders/fcfsOrder";
import { leastLoadPlace } from "../policies/places/leastLoadPlace";

/** A cascade active from a time on, over a ladder of which it may omit models. */
export interface Epoch {
  readonly fromSeconds: number;
  /** Positions in the ladder, ascending. */
  readonly stages: readonly number[];
  /** One fewer than stages. */
  readonly thresholds: readonly number[];
}

/** When a replica takes work: from when it is up until it is stopped. It finishes the work it then holds. */
export interface Uptime {
  readonly fromSeconds: number;
  readonly untilSeconds: number;
}

/**
 * A cascade whose thresholds, models and replicas change at set times: a re-planned deployment under a rolling update. Stages are positions
 * in the ladder. Requests that wait for a model no longer in the cascade move to the next that is, at once as many as its replicas would
 * have room for; an answer is judged by the cascade active when it arrives.
 *
 * @param epochs ascending by time, the first from the start.
 * @param uptimes by replica id; a replica that is not named is always up.
 */
export function phasedPolicy(ladder: readonly string[], epochs: readonly Epoch[], uptimes: ReadonlyMap<string, Uptime>): Policy {
  let epoch = epochs[0] ?? { fromSeconds: 0, stages: [0], thresholds: [] };
  const changes = [...uptimes.values()].flatMap(({ fromSeconds, untilSeconds }) => [fromSeconds, untilSeconds]).sort((a, b) => a - b);
  let changed = -1;
  let up: readonly ReplicaView[] = [];

  const place = (stage: number): number => epoch.stages.indexOf(stage);
  const judges = (stage: number): boolean => place(stage) >= 0 && place(stage) < epoch.stages.length - 1;
  const servedAt = (stage: number): number => epoch.stages.find((own) => own >= stage) ?? epoch.stages.at(-1) ?? stage;

  const served = jointPolicy({
    route: {
      kind: "phased-cascade",
      needs: ["judged-scores"],
      models: ladder,
      start: () => ({ stage: servedAt(0), reason: "first-stage" }),
      judges,
      verdict(stage, judgedScore) {
        const next = epoch.stages[place(stage) + 1];
        if (!judges(stage) || judgedScore === null || next === undefined) return { kind: "accept", reason: "last-stage" };
        return judgedScore >= (epoch.thresholds[place(stage)] ?? 0)
          ? { kind: "accept", reason: "score-at-or-above-threshold" }
          : { kind: "escalate", stage: next, reason: "score-below-threshold" };
      },
    },
    order: fcfsOrder,
    place: leastLoadPlace,
  });

  return {
    ...served,
    judges,
    decide(view) {
      const now = view.nowSeconds;
      epoch = epochs.findLast(({ fromSeconds }) => fromSeconds <= now) ?? epoch;
      const passed = changes.filter((seconds) => seconds <= now).length;
      if (passed !== changed) {
        changed = passed;
        up = view.replicas.filter(({ id }) => {
          const own = uptimes.get(id);
          return own === undefined || (own.fromSeconds <= now && now < own.untilSeconds);
        });
      }
      const whole = epoch.stages.length === ladder.length;
      const moves = (whole ? [] : view.waiting).flatMap(({ id, stage, state }) =>
        state.kind === "queued" && servedAt(stage) !== stage
          ? [{ kind: "escalate" as const, workId: id, stage: servedAt(stage), reason: "model-not-in-cascade" as const }]
          : [],
      );
      // Moved requests join their own stage's queue first; the driver asks again at once.
      return moves.length > 0 ? moves : served.decide({ ...view, replicas: up });
    },
  };
}
