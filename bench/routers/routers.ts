import { PROMPT_AUC } from "@/solver/baselines/allBaselines";
import { planningSample, routePrompts } from "@/solver/cascade/routing/routing";
import { mean, quantile } from "@/solver/numeric/quantile";
import { withRouterScores } from "@/solver/workload/modelledRouter";
import { splitPrompts } from "@/solver/workload/split";
import type { OutcomeTable } from "@/solver/workload/workload";
import type { Benchmark, Measurement } from "../lib/benchmark";
import { dataPresent, workloadOf } from "../lib/compareData";
import { type Ladder, ladders } from "../lib/ladders";
import { once } from "../lib/once";
import { writeResults, writeTables } from "../lib/results";
import { table } from "../lib/tables";
import { trainedOutcomes } from "../lib/trainedScores";
import { cascadeRoutingRow, cascadeRoutingTables, ROUTING_SEEDS, type RoutingRow } from "./cascadeRouting";

/** Splits into prompts to learn from and held-out ones, over which every figure is averaged. */
const SEEDS = [1, 2, 3];

/** What a router gains over sending the same share on at random, on held-out prompts. */
interface Gained {
  /** Points of quality above random. */
  readonly points: number;
  /** Share of the held-out requests that goes to the larger model; the planning prompts set it to a half. */
  readonly share: number;
}

interface RouterRow {
  readonly family: string;
  readonly task: string;
  readonly models: readonly [string, string];
  readonly prompts: number;
  /** By split. */
  readonly trained: readonly Gained[];
  readonly modelled: readonly Gained[];
}

/** Every ladder under both routers. Writes every figure to bench/results/routers.json. */
const measured = once(async (): Promise<readonly RouterRow[]> => {
  const rows: RouterRow[] = [];
  for (const ladder of ladders) {
    rows.push(await rowOf(ladder));
    process.stderr.write(`routers: ${ladder.family} on ${ladder.task}\n`);
  }
  writeResults("routers", rows);
  const tables = routerTable(rows);
  writeTables("routers", [tables]);
  process.stderr.write(`\n${tables}\n`);
  return rows;
});

async function rowOf({ family, task }: Ladder): Promise<RouterRow> {
  const workload = await workloadOf({ family, tasks: [task], judgeAuc: 0.8 });
  const { outcomes } = workload;
  const models = [outcomes.models[0]?.model ?? "", outcomes.models.at(-1)?.model ?? ""] as const;
  const trained: Gained[] = [];
  const modelled: Gained[] = [];
  for (const seed of SEEDS) {
    trained.push(gained(await scoredOf({ family, task }, seed), models, seed));
    modelled.push(gained(withRouterScores(outcomes, { auc: PROMPT_AUC, seed }), models, seed));
  }
  return { family, task, models, prompts: outcomes.promptIds.length, trained, modelled };
}

const scored = new Map<string, Promise<OutcomeTable>>();

/** The outcomes of a ladder with trained scores of a split: trained once for both benchmarks. */
function scoredOf({ family, task }: Pick<Ladder, "family" | "task">, seed: number): Promise<OutcomeTable> {
  const key = `${family} ${task} ${seed}`;
  const known = scored.get(key) ?? workloadOf({ family, tasks: [task], judgeAuc: 0.8 }).then((workload) => trainedOutcomes(workload, seed));
  scored.set(key, known);
  return known;
}

/** Cascade routing beside a cascade and a router alone. Writes every figure to bench/results/cascadeRouting.json. */
const routed = once(async (): Promise<readonly RoutingRow[]> => {
  const rows: RoutingRow[] = [];
  for (const ladder of ladders) {
    rows.push(await cascadeRoutingRow(ladder, (seed) => scoredOf(ladder, seed)));
    process.stderr.write(`cascade routing: ${ladder.family} on ${ladder.task}\n`);
  }
  writeResults("cascadeRouting", rows);
  const tables = cascadeRoutingTables(rows);
  const [qualities = "", costs = ""] = tables;
  writeTables("cascade-routing", [qualities]);
  writeTables("cascade-routing-floors", [costs]);
  process.stderr.write(`\n${tables.join("\n")}\n`);
  return rows;
});

const gainOver = async (other: "plain cascade" | "trained router"): Promise<Measurement> => {
  const rows = await routed();
  const own = rows.map(({ splits }) => mean(splits.map(({ by }) => by["cascade routing"].quality - by[other].quality)));
  return {
    figure: mean(own),
    unit: "points",
    detail: `held-out quality over equal budgets, ${rows.map(({ family, task }, at) => `${family} on ${task} ${own[at]?.toFixed(1)}`).join(", ")}; mean over ${ROUTING_SEEDS.length} splits; in bench/results/cascadeRouting.json`,
  };
};

/** The router that sends the half of the planning prompts with the lowest scores of the smallest model to the largest, on held-out ones. */
function gained(prescored: OutcomeTable, models: readonly [string, string], seed: number): Gained {
  const split = splitPrompts(prescored.promptIds.length, seed);
  const [planning, heldOut] = [planningSample(prescored, split.planning, models), planningSample(prescored, split.heldOut, models)];
  const half = quantile(planning.routerScore?.[0] ?? [], 0.5);
  const { share, quality } = routePrompts(heldOut, [0, 1], [0], [half]);
  const [small = 0, large = 0] = heldOut.label.map(mean);
  const sentOn = share[1] ?? 0;
  return { points: quality - (small + sentOn * (large - small)), share: sentOn };
}

const points = (of: readonly Gained[]): number => mean(of.map((each) => each.points));

function routerTable(rows: readonly RouterRow[]): string {
  const ranged = (of: readonly Gained[]): string => {
    const own = of.map((each) => each.points);
    return `${points(of).toFixed(1)} (${Math.min(...own).toFixed(1)} to ${Math.max(...own).toFixed(1)})`;
  };
  return table(
    ["ladder", "task", "prompts", "trained head", `modelled, AUC ${PROMPT_AUC}`, "sent on"],
    rows.map(({ family, task, prompts, trained, modelled }) => [
      ...[family, task, String(prompts), ranged(trained), ranged(modelled)],
      mean([...trained, ...modelled].map(({ share }) => share)).toFixed(2),
    ]),
  );
}

const figureOf = async (router: "trained" | "modelled"): Promise<Measurement> => {
  const rows = await measured();
  const own = rows.map((row) => points(row[router]));
  return {
    figure: mean(own),
    unit: "points",
    detail: `over sending as many on at random, ${rows.map(({ family, task }, at) => `${family} on ${task} ${own[at]?.toFixed(1)}`).join(", ")}; held out, mean over ${SEEDS.length} splits; in bench/results/routers.json`,
  };
};

export const routerBenchmarks: readonly Benchmark[] = dataPresent()
  ? [
      { name: "router before answering, trained head, half sent on", budget: null, run: () => figureOf("trained") },
      { name: "router before answering, modelled, half sent on: an upper bound", budget: null, run: () => figureOf("modelled") },
      { name: "cascade routing over a plain cascade with its gate", budget: null, run: () => gainOver("plain cascade") },
      { name: "cascade routing over a trained router alone", budget: null, run: () => gainOver("trained router") },
    ]
  : [];
