import { gainRecordOf } from "@/server/contracts/gateway/gainRecord";
import type { FailureKind, FinishReason, GateCall, GateRecord, StageRecord } from "@/server/contracts/gateway/gatewayAdmin";
import type { GainDecision } from "@/solver/nextModel/nextModel";
import type { GraceThreshold } from "@/solver/policies/core/policy";
import type { Replica } from "../engines/replica";
import type { TimedCall } from "../gates/otherAnswers";
import type { Usage } from "../http/usage";
import type { ServedModel } from "../serving/servedModel";

/** A call of a stage's engine: where, and how long it took. */
export interface Attempt {
  readonly replica: Replica;
  readonly stage: number;
  readonly model: string;
  readonly engine: NonNullable<StageRecord["engine"]>;
  readonly queueMs: number;
  readonly engineMs: number;
  readonly at: Omit<NonNullable<StageRecord["at"]>, "judged" | "firstToken">;
  /** Further answers that were asked for beside it and that nothing compared, since it failed. */
  readonly unusedCalls?: readonly TimedCall[] | undefined;
}

/** Its outcome. */
export interface Finding extends Usage {
  readonly verdict: StageRecord["verdict"];
  readonly reason: string;
  /** More about the reason, in words. */
  readonly detail?: string | undefined;
  /** Set if the verdict is `failed`. */
  readonly failure?: FailureKind | undefined;
  readonly finishReasons?: readonly FinishReason[] | undefined;
  readonly judgeMs?: number | undefined;
  readonly gate?: Pick<GateRecord, "kind" | "raw"> & { readonly ms: number; readonly calls?: readonly TimedCall[] | undefined };
  readonly score?: number | null | undefined;
  readonly unscored?: StageRecord["unscored"] | undefined;
  readonly judgedSeconds?: number | undefined;
  /** The terms of the decision on it, where the policy chooses by expected gain. */
  readonly gain?: GainDecision | undefined;
  /** The threshold that decided on it, where overload had lowered it. */
  readonly grace?: GraceThreshold | undefined;
  /** On the clock of `performance.now()`, if the answer was streamed. */
  readonly firstTokenMs?: number | undefined;
}

/** The record of one engine call and its outcome. Seconds are engine seconds. */
export function stageRecordOf(served: ServedModel, attempt: Attempt, finding: Finding): StageRecord {
  const {
    verdict,
    reason,
    detail,
    failure,
    finishReasons,
    inputTokens,
    outputTokens,
    cachedTokens,
    judgeMs,
    gate,
    score = null,
    judgedSeconds = null,
    unscored,
    gain,
    grace,
    firstTokenMs,
  } = finding;
  const scale = served.timeScale / 1000;
  const { queued, dispatched, answered } = attempt.at;
  const at: NonNullable<StageRecord["at"]> = { queued, dispatched, answered, judged: judgedSeconds };
  if (firstTokenMs !== undefined) at.firstToken = firstTokenMs * scale;
  const stage: StageRecord = {
    model: attempt.model,
    replica: attempt.replica.id,
    queueSeconds: attempt.queueMs * scale,
    seconds: attempt.engineMs * scale,
    judgeSeconds: judgeMs === undefined ? null : judgeMs * scale,
    judgedScore: score,
    // A choice by expected gain compares the score with no threshold.
    threshold: gain === undefined ? (grace?.inForce ?? served.thresholds[attempt.stage] ?? null) : null,
    verdict,
    reason,
    inputTokens,
    outputTokens,
    at,
    engine: attempt.engine,
  };
  if (gate !== undefined) {
    const { kind, ms, calls, raw } = gate;
    stage.gate = { kind, seconds: ms * scale, ...(raw && { raw }), ...(calls && { calls: scaledCalls(calls, scale) }) };
  }
  if (attempt.unusedCalls?.length) stage.unusedCalls = scaledCalls(attempt.unusedCalls, scale);
  if (detail !== undefined) stage.detail = detail;
  if (failure !== undefined) stage.failure = failure;
  if (finishReasons?.length) stage.finishReasons = finishReasons;
  if (cachedTokens !== undefined) stage.cachedTokens = cachedTokens;
  if (unscored !== undefined) stage.unscored = unscored;
  if (grace !== undefined) stage.plannedThreshold = grace.planned;
  if (gain !== undefined) stage.gain = gainRecordOf(gain, served.singles);
  return stage;
}

const scaledCalls = (calls: readonly TimedCall[], scale: number): GateCall[] =>
  calls.map(({ ms, ...call }) => ({ ...call, ...(ms !== null && { seconds: ms * scale }) }));
