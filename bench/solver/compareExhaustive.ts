import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type HeldAgainstExhaustive, holdAgainstExhaustive } from "@/server/planning/compare/compareExhaustive";
import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import { randomInstance } from "@/solver/baselines/randomInstance";
import type { Objective } from "@/solver/plan/plan";
import { atLeast, type Benchmark, type Measurement } from "../lib/benchmark";
import { median } from "../lib/median";
import { once } from "../lib/once";
import { resultsFolder, writeTables } from "../lib/results";
import { table } from "../lib/tables";

/** Number of instances with a plan; seeds whose instance has none are passed over. */
const INSTANCES = 30;

/** A plan that is slower than the best by more than this counts as a miss. */
const WITHIN = 1.01;

interface Held extends HeldAgainstExhaustive {
  readonly seed: number;
}

/** Required speed-up of the planner over a search that simulates every plan whole. */
const FASTER = 100;

const running = new Map<Objective["latency"], Promise<readonly Held[]>>();

function held(latency: Objective["latency"]): Promise<readonly Held[]> {
  const known = running.get(latency) ?? holdAll(latency);
  running.set(latency, known);
  return known;
}

/** Compares the planner with exhaustive search on 30 instances; writes each to bench/lib/results, and the misses to stderr. */
async function holdAll(latency: Objective["latency"]): Promise<readonly Held[]> {
  const engine = await loadGlpkEngine();
  const all: Held[] = [];
  for (let seed = 1; all.length < INSTANCES; seed += 1) {
    const one = holdAgainstExhaustive(randomInstance(seed), latency, { engine, nowSeconds: () => performance.now() / 1000 });
    if (one === null) continue;
    all.push({ seed, ...one });
    process.stderr.write(
      `${latency}, instance ${seed}: ${one.exhaustiveSeconds.toFixed(1)} s exhaustively, ${one.planningSeconds.toFixed(2)} s planned\n`,
    );
    if (one.plannedSeconds > WITHIN * one.bestSeconds) {
      const off = `${(one.plannedSeconds / one.bestSeconds).toFixed(3)} of the best by tables, ${(one.plannedWholeSeconds / one.bestWholeSeconds).toFixed(3)} simulated whole`;
      process.stderr.write(`${latency}, instance ${seed}: ${off}: ${one.planned} in place of ${one.best}\n`);
    }
  }
  writeFileSync(join(resultsFolder(), `exhaustive-${latency}.json`), `${JSON.stringify(all, null, 2)}\n`);
  return all;
}

async function within(latency: Objective["latency"]): Promise<Measurement> {
  const all = await held(latency);
  const ratio = (one: Held): number => one.plannedSeconds / one.bestSeconds;
  const whole = (one: Held): number => one.plannedWholeSeconds / one.bestWholeSeconds;
  const kept = all.filter((one) => ratio(one) <= WITHIN).length;
  const wholeKept = all.filter((one) => whole(one) <= WITHIN).length;
  return {
    figure: kept,
    unit: `of ${INSTANCES} within 1 %`,
    detail: `2 or 3 models on 4 to 16 GPUs; worst ${Math.max(...all.map(ratio)).toFixed(3)} of the best; both plans simulated whole, ${wholeKept} within 1 % or better, worst ${Math.max(...all.map(whole)).toFixed(3)}`,
  };
}

async function faster(latency: Objective["latency"]): Promise<Measurement> {
  const all = await held(latency);
  const byTables = all.map(({ exhaustiveSeconds, planningSeconds }) => exhaustiveSeconds / planningSeconds);
  const bySimulation = all.map(({ plans, wholeSimulationSeconds, planningSeconds }) => (plans * wholeSimulationSeconds) / planningSeconds);
  const enough = bySimulation.filter((times) => times >= FASTER).length;
  return {
    figure: enough,
    unit: `of ${INSTANCES} at least ${FASTER}x faster`,
    detail: `an estimate: plans to search, times the measured time of simulating one whole, over the planner's time; median ${median(bySimulation).toFixed(0)}x. Exhaustive search on tables, which was run, takes ${median(byTables).toPrecision(2)}x (most ${Math.max(...byTables).toPrecision(2)}x)`,
  };
}

/** Instances whose exhaustive search takes every shape that fits: of few GPUs, as multisets of fifteen shapes are many. */
const UNPRUNED = { instances: 12, mostGpus: 8 } as const;

/** Instance by instance. */
export const unprunedTable = (all: readonly Held[]): string =>
  table(
    [
      "instance",
      "plan",
      "best of every shape",
      "latency over the best's, by tables",
      "simulated whole",
      "search over planning, times as long",
    ],
    all.map((one) => [
      ...[String(one.seed), one.planned, one.best, (one.plannedSeconds / one.bestSeconds).toFixed(3)],
      (one.plannedWholeSeconds / one.bestWholeSeconds).toFixed(3),
      (one.exhaustiveSeconds / one.planningSeconds).toPrecision(2),
    ]),
  );

const unpruned = once(async (): Promise<readonly Held[]> => {
  const engine = await loadGlpkEngine();
  const all: Held[] = [];
  for (let seed = 1; all.length < UNPRUNED.instances; seed += 1) {
    const instance = randomInstance(seed);
    if (instance.cluster.nodes.reduce((sum, { gpus }) => sum + gpus, 0) > UNPRUNED.mostGpus) continue;
    const one = holdAgainstExhaustive(instance, "end-to-end", { engine, nowSeconds: () => performance.now() / 1000, shapes: "every" });
    if (one !== null) all.push({ seed, ...one });
    process.stderr.write(
      `unpruned, instance ${seed}: ${one === null ? "no plan" : `${one.exhaustiveSeconds.toFixed(1)} s, ${(one.plannedSeconds / one.bestSeconds).toFixed(3)} of the best: ${one.planned} beside ${one.best}`}\n`,
    );
  }
  writeFileSync(join(resultsFolder(), "exhaustive-unpruned.json"), `${JSON.stringify(all, null, 2)}\n`);
  writeTables("exhaustive-unpruned", [unprunedTable(all)]);
  return all;
});

async function withinOfUnpruned(): Promise<Measurement> {
  const all = await unpruned();
  const ratios = all.map(({ plannedSeconds, bestSeconds }) => plannedSeconds / bestSeconds);
  return {
    figure: ratios.filter((ratio) => ratio <= WITHIN).length,
    unit: `of ${all.length} within 1 %`,
    detail: `2 or 3 models on at most ${UNPRUNED.mostGpus} GPUs, exhaustive search over every shape that fits, end to end; worst ${Math.max(...ratios).toFixed(3)} of the best by tables`,
  };
}

/** The planner compared with exhaustive search, for both objectives. */
export const exhaustiveBenchmarks: readonly Benchmark[] = [
  {
    name: "plans as good as exhaustive search over unpruned shapes",
    budget: atLeast(UNPRUNED.instances, "the planner leaves out a shape, cascade or division that is better by more than 1 %"),
    run: withinOfUnpruned,
  },
  ...(["end-to-end", "largest-stage"] as const).flatMap((latency): Benchmark[] => [
    {
      name: `plans as good as exhaustive search, ${latency}`,
      budget: atLeast(INSTANCES, "the planner leaves out a cascade, threshold or division that is better by more than 1 %"),
      run: () => within(latency),
    },
    {
      name: `plans found faster than by exhaustive search, ${latency}`,
      budget: atLeast(INSTANCES, "an instance has few plans to search, so that 100 times is out of reach"),
      run: () => faster(latency),
    },
  ]),
];
