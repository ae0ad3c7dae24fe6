import type { BatchOrder } from "@/server/store/batchOrder";
import type { BatchStage } from "@/server/store/batchRepository";
import { secondsAtShare } from "@/solver/ensemble/aggregatorStage";
import type { BatchTally } from "./batchTally";
import type { Questions } from "./questions";
import type { SessionRecord } from "./sessionRecord";

export interface EtaGround {
  readonly records: readonly SessionRecord[];
  readonly tally: BatchTally;
  readonly questions: Pick<Questions, "undecided" | "aggregatedShare">;
  readonly aggregatorPredicted: BatchOrder["aggregatorPredicted"];
  /** Of the wall, as the records count them. */
  readonly nowMs: number;
}

/**
 * Engine seconds until a batch is through: its slowest worker by the measured speed of what it answers now and by what was predicted of its other sessions,
 * scaled by what measured ones took; then the aggregator on the share of questions that has needed it so far. null: nothing tells yet.
 */
export function etaSeconds({ records, tally, questions, aggregatorPredicted, nowMs }: EtaGround): number | null {
  const drift = driftOf(records, nowMs);
  const left = (record: SessionRecord): number | null => {
    const { session, state } = record;
    if (state === "done" || state === "unloading") return 0;
    const { done, failed } = tally.session(session.engineId);
    const speed = record.answersPerSecond(nowMs);
    const prompts = session.positions?.length ?? null;
    if (speed !== null && prompts !== null) return (prompts - done - failed) / speed;
    if (session.predicted === null) return null;
    const share = prompts === null || prompts === 0 ? 1 : (prompts - done - failed) / prompts;
    const load = record.loadSeconds === null ? session.predicted.loadSeconds : 0;
    return load + session.predicted.seconds * share * drift;
  };
  const of = (stage: BatchStage) => records.filter(({ session }) => session.stage === stage);
  const byWorker = new Map<number, number>();
  for (const record of of("experts")) {
    const seconds = left(record);
    if (seconds === null) return null;
    byWorker.set(record.session.worker, (byWorker.get(record.session.worker) ?? 0) + seconds);
  }
  const experts = Math.max(0, ...byWorker.values());
  const aggregator = aggregatorSeconds(of("aggregator"), { questions, aggregatorPredicted, nowMs, drift });
  return aggregator === null ? null : experts + aggregator;
}

function aggregatorSeconds(
  records: readonly SessionRecord[],
  {
    questions,
    aggregatorPredicted,
    nowMs,
    drift,
  }: Pick<EtaGround, "questions" | "aggregatorPredicted" | "nowMs"> & { readonly drift: number },
): number | null {
  if (records.every(({ state }) => state === "done")) return 0;
  const speeds = records.flatMap((record) => record.answersPerSecond(nowMs) ?? []);
  if (speeds.length > 0) return questions.undecided.left / speeds.reduce((sum, speed) => sum + speed, 0);
  const share = questions.aggregatedShare;
  if (share === null) return null;
  const { loadSeconds, points } = aggregatorPredicted;
  return share === 0 ? 0 : loadSeconds + secondsAtShare(points, share) * drift;
}

/** What sessions that are over took, over what was predicted of them; 1 before the first. */
function driftOf(records: readonly SessionRecord[], nowMs: number): number {
  const over = records.filter(({ state, session }) => state === "done" && session.stage === "experts" && session.predicted !== null);
  const predicted = over.reduce((sum, { session }) => sum + (session.predicted?.seconds ?? 0), 0);
  const took = over.reduce((sum, record) => sum + record.seconds(nowMs), 0);
  return predicted > 0 && took > 0 ? took / predicted : 1;
}
