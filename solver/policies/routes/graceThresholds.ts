import { type Grace, gracePoints } from "../../plan/grace";
import type { GraceThreshold, PolicyEvent } from "../core/policy";
import { fallAfter, type GraceFall, noFall } from "./graceFall";

interface GracedCascade {
  readonly stages: readonly unknown[];
  readonly thresholds: readonly number[];
  readonly approvedRanges?: { readonly thresholds: readonly { readonly min: number }[] } | undefined;
  readonly grace: Grace;
}

/** The thresholds of a cascade that fall while requests pile up in front of later stages (`graceFall.ts` has the rule for one of them). */
export interface GraceThresholds {
  observe(event: PolicyEvent): void;
  /** Accounts for the time up to a decision: its verdicts compare with the thresholds of then. */
  advance(nowSeconds: number): void;
  /** The threshold of a stage at the moment of the latest decision, if it is lowered; undefined: it is the plan's. */
  inForce(stage: number): GraceThreshold | undefined;
  /** The lowered thresholds at a moment that is not earlier than the latest event. A query: nothing changes. */
  lowered(nowSeconds: number): readonly GraceThreshold[];
}

/**
 * Follows the queues of the later stages by the policy's events, which a simulation and a gateway give alike: the thresholds depend on the
 * times of these alone, and not on how often the policy is asked. The threshold of a stage follows the longest of all queues after it.
 */
export function graceThresholds({ stages, thresholds, approvedRanges, grace }: GracedCascade): GraceThresholds {
  const most = gracePoints({ thresholds, approvedRanges });
  const stageOf = new Map<string, number>();
  const waiting = stages.map(() => 0);
  let falls: readonly GraceFall[] = thresholds.map(() => noFall);

  function fallsAt(untilSeconds: number): readonly GraceFall[] {
    let longest = 0;
    const after = [...falls];
    for (let stage = thresholds.length - 1; stage >= 0; stage -= 1) {
      longest = Math.max(longest, waiting[stage + 1] ?? 0);
      after[stage] = fallAfter(falls[stage] ?? noFall, { waiting: longest, untilSeconds }, grace, most[stage] ?? 0);
    }
    return after;
  }

  function leave(workId: string): void {
    const stage = stageOf.get(workId);
    if (stage === undefined) return;
    stageOf.delete(workId);
    waiting[stage] = (waiting[stage] ?? 0) - 1;
  }

  function advance(nowSeconds: number): void {
    falls = fallsAt(nowSeconds);
  }

  function loweredBy({ points, sinceSeconds }: GraceFall, stage: number): GraceThreshold | undefined {
    const planned = thresholds[stage] ?? 0;
    return sinceSeconds === null ? undefined : { stage, planned, inForce: planned - points, sinceSeconds };
  }

  return {
    observe(event) {
      switch (event.kind) {
        case "queued": {
          const { id, stage, queuedSinceSeconds } = event.work;
          advance(queuedSinceSeconds);
          leave(id);
          stageOf.set(id, stage);
          waiting[stage] = (waiting[stage] ?? 0) + 1;
          break;
        }
        case "dispatched":
        case "left":
          advance(event.nowSeconds);
          leave(event.workId);
          break;
      }
    },
    advance,
    inForce: (stage) => loweredBy(falls[stage] ?? noFall, stage),
    lowered: (nowSeconds) => fallsAt(nowSeconds).flatMap((fall, stage) => loweredBy(fall, stage) ?? []),
  };
}
