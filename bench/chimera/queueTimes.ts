import type { LabSystem } from "@/solver/lab/labSpec";
import { answersOf, ladders } from "../lib/ladders";
import { bySeed } from "../lib/runCells";
import { LOADS, ORDER_BATCHES, SEEDS } from "./cases";
import { figuresOf, runLab } from "./labRun";

const CORRELATIONS = [0, 0.5, 1];
/** Training is slow. */
const LEARNT_AT = 0.5;

/** Results of orders on one model's engine: mean over programs of the total seconds that their requests wait, seed by seed. */
export interface QueueTimeRow {
  readonly family: string;
  readonly task: string;
  readonly model: string;
  readonly correlation: number;
  readonly load: number;
  readonly lengths: "learnt" | "oracle";
  readonly fcfs: readonly number[];
  readonly sjf: readonly number[];
  readonly stjf: readonly number[];
}

const agingThreshold = 1000;

/** All requests to one model, in an order. */
function systemsOf(model: string, correlation: number): LabSystem[] {
  const fixed = (kind: "sjf" | "stjf", lengths: "learnt" | "oracle"): LabSystem => ({
    name: `${kind} ${lengths}`,
    policy: { kind: "fixed", model, order: { kind, agingThreshold }, place: { kind: "least-load" } },
    ...{ lengths, confidence: "none" },
  });
  const fcfs: LabSystem = {
    ...fixed("sjf", "oracle"),
    name: "fcfs",
    policy: { kind: "fixed", model, order: { kind: "fcfs" }, place: { kind: "least-load" } },
    lengths: "none",
  };
  const learnt = [fixed("sjf", "learnt"), fixed("stjf", "learnt")];
  return [fcfs, fixed("sjf", "oracle"), fixed("stjf", "oracle"), ...(correlation === LEARNT_AT ? learnt : [])];
}

/**
 * Queue time by order with one model (the source's figure 3), the correlation of a program's stages swept. A request's wait ends when it
 * enters the engine's batch for the first time.
 */
export async function queueTimes(progress: (line: string) => void): Promise<readonly QueueTimeRow[]> {
  const rows: QueueTimeRow[] = [];
  for (const ladder of ladders) {
    const answers = await answersOf(ladder);
    for (const engine of ladder.replicas) {
      for (const correlation of CORRELATIONS) {
        // Orders without aging: its effect is measured separately.
        const change = { queue: "engines", aging: null } as const;
        const of = {
          ladder,
          ...answers,
          replicas: [engine],
          correlation,
          loads: LOADS,
          change,
          seeds: SEEDS,
          batches: ORDER_BATCHES,
        };
        const systems = systemsOf(engine.model, correlation);
        const ran = await runLab(of, figuresOf(of).capacity, () => systems);
        for (const [rate, load] of LOADS.entries()) {
          const queue = (system: number) => bySeed(ran, { system, rate }, "meanQueueSeconds");
          for (const [lengths, sjf, stjf] of [["oracle", 1, 2] as const, ["learnt", 3, 4] as const]) {
            if (stjf >= systems.length) continue;
            rows.push({
              ...{ family: ladder.family, task: ladder.task, model: engine.model, correlation, load, lengths },
              ...{ fcfs: queue(0), sjf: queue(sjf), stjf: queue(stjf) },
            });
          }
        }
      }
      progress(`queue times, ${ladder.family} ${ladder.task}, ${engine.model}`);
    }
  }
  return rows;
}
