import type { LabSpec, LabSystem } from "@/solver/lab/labSpec";
import { answersOf, type Ladder, ladders } from "../lib/ladders";
import { bySeed } from "../lib/runCells";
import { CORRELATION, ORDER_BATCHES, SEEDS } from "./cases";
import { figuresOf, runLab } from "./labRun";

/**
 * Close below saturation few requests wait for long; above it waits grow with the run, and the longer of the two runs shows the effect of
 * aging then.
 */
export const AGING_LOADS = [0.95, 1.1] as const;
export const TIMES = [1, 4] as const;

/** More releases than a run has: nothing ever ages. */
const NEVER = 1_000_000;

interface Arm extends Pick<LabSpec, "queue" | "aging"> {
  readonly name: string;
  readonly agingThreshold: number;
}

/** Where requests wait, and when they go ahead of shorter ones. */
const ARMS: readonly [Arm, ...Arm[]] = [
  { name: "engines, no aging", queue: "engines", aging: null, agingThreshold: NEVER },
  { name: "engines, S 1000, Q 100", queue: "engines", aging: { starvedSteps: 1000, quantumSteps: 100 }, agingThreshold: NEVER },
  { name: "engines, S 4000, Q 100", queue: "engines", aging: { starvedSteps: 4000, quantumSteps: 100 }, agingThreshold: NEVER },
  { name: "centre, no aging", queue: "centre", aging: null, agingThreshold: NEVER },
  { name: "centre, S 320 releases", queue: "centre", aging: null, agingThreshold: 320 },
  { name: "centre, S 1280 releases", queue: "centre", aging: null, agingThreshold: 1280 },
];

export interface AgingRow extends Pick<Ladder, "family" | "task"> {
  readonly model: string;
  readonly load: number;
  /** Length of the run relative to the shortest. */
  readonly times: number;
  readonly arm: string;
  readonly order: "fcfs" | "stjf";
  /** Longest that a request waited to enter a batch, seed by seed. */
  readonly longestWaitSeconds: readonly number[];
  /** Mean over programs of the total seconds that their requests wait, seed by seed. */
  readonly queueSeconds: readonly number[];
  /** Requests that engines put ahead for having waited too long, mean over seeds. */
  readonly promotions: number;
}

function systemOf(model: string, kind: AgingRow["order"], agingThreshold: number): LabSystem {
  const order = kind === "fcfs" ? { kind } : { kind, agingThreshold };
  return {
    name: kind,
    policy: { kind: "fixed", model, order, place: { kind: "least-load" } },
    ...{ lengths: kind === "fcfs" ? "none" : "oracle", confidence: "none" },
  };
}

/**
 * The worst wait and the mean with aging on and off, by where requests wait: the smallest model of each ladder, shortest program first by
 * true lengths.
 */
export async function agingRuns(progress: (line: string) => void): Promise<readonly AgingRow[]> {
  const rows: AgingRow[] = [];
  for (const ladder of ladders) {
    const answers = await answersOf(ladder);
    const [engine] = ladder.replicas;
    if (engine === undefined) continue;
    const { capacity } = figuresOf({ ladder, ...answers, replicas: [engine], correlation: CORRELATION, loads: AGING_LOADS });
    for (const times of TIMES) {
      for (const { name, agingThreshold, ...change } of ARMS) {
        const of = {
          ladder,
          ...answers,
          replicas: [engine],
          correlation: CORRELATION,
          loads: AGING_LOADS,
          change,
          times,
          seeds: SEEDS,
          batches: ORDER_BATCHES,
        };
        // In the order of arrival no request passes another: one arm is enough.
        const orders = name === ARMS[0].name ? (["stjf", "fcfs"] as const) : (["stjf"] as const);
        const systems = orders.map((order) => systemOf(engine.model, order, agingThreshold));
        const ran = await runLab(of, capacity, () => systems);
        for (const [rate, load] of AGING_LOADS.entries())
          for (const [system, order] of orders.entries()) {
            const own = ran.cells.filter((cell) => cell.system === system && cell.rate === rate);
            rows.push({
              ...{ family: ladder.family, task: ladder.task, model: engine.model, load, times, arm: name, order },
              longestWaitSeconds: bySeed(ran, { system, rate }, "longestWaitSeconds"),
              queueSeconds: bySeed(ran, { system, rate }, "meanQueueSeconds"),
              promotions: own.reduce((sum, { promotions }) => sum + promotions / own.length, 0),
            });
          }
      }
    }
    progress(`aging, ${ladder.family} ${ladder.task}, ${engine.model}`);
  }
  return rows;
}
