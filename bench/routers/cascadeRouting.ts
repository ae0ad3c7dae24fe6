import { routeByGain } from "@/solver/cascade/routing/gainRouting";
import { qualityLowerBound, selectionCritical } from "@/solver/cascade/routing/qualityBound";
import { type PlanningSample, planningSample, type Routed, routePrompts } from "@/solver/cascade/routing/routing";
import { orderedSubsets, product, usefulThresholds } from "@/solver/cascade/routing/routingGrid";
import { fitLadder, gainSetting, tradeOffs } from "@/solver/cascadeRouting/gainSettings";
import { saturationRate } from "@/solver/engine/saturation";
import { gpuCard } from "@/solver/hardware/gpus";
import { modelCard } from "@/solver/hardware/models";
import { feasibleReplicas } from "@/solver/hardware/replicaShapes";
import { seedEstimate } from "@/solver/lab/overSeeds";
import { mean } from "@/solver/numeric/quantile";
import { mixSeed } from "@/solver/numeric/random";
import { splitPrompts } from "@/solver/workload/split";
import type { OutcomeTable } from "@/solver/workload/workload";
import { workloadOf } from "../lib/compareData";
import type { Ladder } from "../lib/ladders";
import { estimate, ratio, signed, table } from "../lib/tables";

/** Splits into prompts to learn and choose on and held-out ones. */
export const ROUTING_SEEDS = [1, 2, 3, 4, 5];

/**
 * Budgets, evenly from the cost of the smallest model alone to that of the largest. At each, requests are shared at random between the two
 * settings next to it on the concave envelope of cost and quality, as the source of cascade routing breaks ties: the settings of a
 * method are then compared and not their number.
 */
const BUDGETS = 20;

/** Floors, evenly between the quality of the smallest and of the largest model alone, without the ends. */
const FLOORS = 5;

/** Most settings of a cascade or a router: about as many as cascade routing tries on three models. */
const SETTINGS = 180;

const REQUESTS = 900;
const CONFIDENCE = 0.9;

type Method = "cascade routing" | "plain cascade" | "trained router";
const methods: readonly Method[] = ["cascade routing", "plain cascade", "trained router"];

/** One setting of a method: how it routes any prompts, and how it did on the planning ones. */
interface Setting {
  readonly on: (sample: PlanningSample) => Routed;
  readonly planned: Routed;
  readonly cost: number;
}

interface Measured {
  /** Mean held-out quality over the budgets, and the mean held-out cost in GPU-seconds a request. */
  readonly quality: number;
  readonly cost: number;
  /** At each floor that the method promises: held-out quality and cost. */
  readonly floors: readonly ({ readonly quality: number; readonly cost: number } | null)[];
}

export interface RoutingRow {
  readonly family: string;
  readonly task: string;
  /** GPU-seconds a request by model, at full load. */
  readonly gpuSeconds: readonly number[];
  /** By split. */
  readonly splits: readonly { readonly floors: readonly number[]; readonly by: Readonly<Record<Method, Measured>> }[];
}

/** Held-out quality against cost of the three methods on one ladder, with the same judge (modelled, AUC 0.8) and the same trained heads. */
export async function cascadeRoutingRow(ladder: Ladder, scored: (seed: number) => Promise<OutcomeTable>): Promise<RoutingRow> {
  const { family, task } = ladder;
  const { outcomes } = await workloadOf({ family, tasks: [task], judgeAuc: 0.8 });
  const models = ladder.replicas.map(({ model }) => model);
  const gpuSeconds = models.map((model) => gpuSecondsOf(ladder, outcomes, model));
  const splits: RoutingRow["splits"][number][] = [];
  for (const seed of ROUTING_SEEDS) {
    const own = await scored(seed);
    const split = splitPrompts(own.promptIds.length, seed);
    const samples = { planning: planningSample(own, split.planning, models), heldOut: planningSample(own, split.heldOut, models) };
    splits.push(measuredOn(samples, gpuSeconds, seed));
  }
  return { family, task, gpuSeconds, splits };
}

function measuredOn(
  { planning, heldOut }: { readonly planning: PlanningSample; readonly heldOut: PlanningSample },
  gpuSeconds: readonly number[],
  seed: number,
): RoutingRow["splits"][number] {
  const costOf = (stages: readonly number[], { share }: Routed): number =>
    share.reduce((sum, own, stage) => sum + own * (gpuSeconds[stages[stage] ?? 0] ?? 0), 0);
  const alone = planning.models.map((_, model) => {
    const on = (sample: PlanningSample): Routed => routePrompts(sample, [model], []);
    return { on, planned: on(planning), cost: gpuSeconds[model] ?? 0, stages: [model] };
  });
  const subsets = orderedSubsets(planning.models.length).filter(({ length }) => length > 1);
  const setting = (stages: readonly number[], on: Setting["on"]): Setting & { readonly stages: readonly number[] } => {
    const planned = on(planning);
    return { on, planned, cost: costOf(stages, planned), stages };
  };
  const families = {
    "cascade routing": subsets.flatMap((stages) => {
      const fitted = fitLadder(planning, stages, { gpuSeconds, gates: [] });
      if (fitted === null) throw new Error("too few prompts to fit");
      return withMiddles(tradeOffs(fitted)).flatMap((tradeOff) => {
        const found = gainSetting(planning, fitted, tradeOff);
        return found === null ? [] : [setting(stages, (sample) => routeByGain(sample, stages, found.document))];
      });
    }),
    "plain cascade": subsets.flatMap((stages) =>
      grid(planning.judged, stages, subsets.length).map((thresholds) =>
        setting(stages, (sample) => routePrompts(sample, stages, thresholds)),
      ),
    ),
    "trained router": subsets.flatMap((stages) =>
      grid(planning.routerScore ?? [], stages, subsets.length).map((start) =>
        setting(stages, (sample) =>
          routePrompts(
            sample,
            stages,
            start.map(() => 0),
            start,
          ),
        ),
      ),
    ),
  } satisfies Record<Method, (Setting & { readonly stages: readonly number[] })[]>;
  const [least = 0, most = 0] = [gpuSeconds[0], gpuSeconds.at(-1)];
  const [low = 0, high = 0] = [alone[0], alone.at(-1)].map((one) => one?.planned.quality);
  const floors = Array.from({ length: FLOORS }, (_, at) => low + ((at + 1) * (high - low)) / (FLOORS + 1));
  const measured = methods.map((method): readonly [Method, Measured] => {
    const all = [...alone, ...families[method]];
    const heldOutOf = (one: (typeof all)[number]) => {
      const routed = one.on(heldOut);
      return { quality: routed.quality, cost: costOf(one.stages, routed) };
    };
    const corners = envelope(all);
    const within = Array.from({ length: BUDGETS }, (_, at) => {
      const budget = least + ((at + 0.5) * (most - least)) / BUDGETS;
      const next = corners.findIndex(({ cost }) => cost > budget);
      const [below, above] = [corners[next - 1] ?? corners.at(-1), corners[next]];
      if (below === undefined) throw new Error("no setting within the budget");
      if (above === undefined) return heldOutOf(below);
      const [one, other] = [heldOutOf(below), heldOutOf(above)];
      const share = (budget - below.cost) / (above.cost - below.cost);
      return { quality: one.quality + share * (other.quality - one.quality), cost: one.cost + share * (other.cost - one.cost) };
    });
    const critical = selectionCritical(
      all.map(({ planned, cost }) => ({ accepted: planned.accepted, quality: planned.quality, cost })),
      { confidence: CONFIDENCE, seed: mixSeed(seed, method) },
    );
    const atFloors = floors.map((floor) => {
      const keeping = all.filter(({ planned }) => qualityLowerBound(planned, critical) >= floor);
      return keeping.length === 0 ? null : heldOutOf(keeping.reduce((best, one) => (one.cost < best.cost ? one : best)));
    });
    return [method, { quality: mean(within.map((one) => one.quality)), cost: mean(within.map((one) => one.cost)), floors: atFloors }];
  });
  return { floors, by: Object.fromEntries(measured) as Record<Method, Measured> };
}

/** With the geometric mean of each two: the planner halves the steps of its grid around a floor. */
const withMiddles = (tradeOffs: readonly number[]): readonly number[] =>
  tradeOffs.flatMap((own, at) => [own, ...(tradeOffs[at + 1] === undefined ? [] : [Math.sqrt(own * (tradeOffs[at + 1] ?? own))])]);

/** The corners of the concave envelope of quality over cost, by rising cost. */
function envelope<One extends Setting>(settings: readonly One[]): readonly One[] {
  const corners: One[] = [];
  const gain = (from: One, to: One): number => (to.planned.quality - from.planned.quality) / (to.cost - from.cost);
  for (const one of settings.toSorted((a, b) => a.cost - b.cost || b.planned.quality - a.planned.quality)) {
    if (one.planned.quality <= (corners.at(-1)?.planned.quality ?? -1)) continue;
    for (let last = corners.at(-1), before = corners.at(-2); last !== undefined && before !== undefined; ) {
      if (gain(before, last) > gain(last, one)) break;
      corners.pop();
      [last, before] = [corners.at(-1), corners.at(-2)];
    }
    corners.push(one);
  }
  return corners;
}

/** Thresholds on a grid, the scores that occur, evenly. */
function grid(scores: readonly Float64Array[], stages: readonly number[], subsets: number): number[][] {
  const perStage = Math.max(3, Math.floor((SETTINGS / subsets) ** (1 / (stages.length - 1))));
  const choices = stages.slice(0, -1).map((model) => {
    const useful = usefulThresholds(scores[model] ?? new Float64Array());
    const count = Math.min(perStage, useful.length);
    return Array.from({ length: count }, (_, at) => useful[Math.floor(((at + 0.5) * useful.length) / count)] ?? 0);
  });
  return product(choices);
}

/** GPU-seconds that a request of the model takes at full load on the ladder's own engine. */
function gpuSecondsOf({ replicas }: Ladder, outcomes: OutcomeTable, model: string): number {
  const engine = replicas.find((one) => one.model === model);
  const [card, gpu] = [modelCard(model), gpuCard(engine?.gpu ?? "")];
  const column = outcomes.models.find((one) => one.model === model);
  if (engine === undefined || card === undefined || gpu === undefined || column === undefined) throw new Error(`no engine of ${model}`);
  const gpus = engine.tp * engine.pp;
  const shaped = feasibleReplicas(card, gpu, { gpusPerNode: gpus, maxGpus: gpus }).find(({ shape }) => shape.tp === engine.tp);
  if (shaped === undefined) throw new Error(`${model} does not fit ${gpus} x ${engine.gpu}`);
  const rows = Int32Array.from({ length: REQUESTS }, (_, at) => at % outcomes.promptIds.length);
  const work = {
    inputTokens: rows.map((row) => outcomes.inputTokens[row] ?? 0),
    outputTokens: rows.map((row) => column.outputTokens[row] ?? 0),
  };
  return gpus / (saturationRate(shaped.replica, work, REQUESTS) ?? Number.NaN);
}

/** Quality over all budgets, and what each method costs at the same floors beside the plain cascade. */
export function cascadeRoutingTables(rows: readonly RoutingRow[]): readonly string[] {
  const of = (row: RoutingRow, take: (split: RoutingRow["splits"][number]) => number) => seedEstimate(row.splits.map(take));
  const qualities = table(
    ["ladder", "task", "cascade routing", "plain cascade", "trained router", "over the cascade", "over the router"],
    rows.map((row) => [
      ...[row.family, row.task],
      ...methods.map((method) => estimate(of(row, ({ by }) => by[method].quality))),
      ...methods.slice(1).map((method) => signed(of(row, ({ by }) => by["cascade routing"].quality - by[method].quality))),
    ]),
  );
  const costs = table(
    [
      "ladder",
      "task",
      "floors kept by both",
      "cost over the cascade's",
      "floors missed: cascade routing",
      "plain cascade",
      "trained router",
    ],
    rows.map((row) => [
      ...[row.family, row.task],
      String(row.splits.reduce((sum, split) => sum + pairs(split).length, 0)),
      ratio(of(row, (split) => mean(pairs(split).map(([own, other]) => own.cost / other.cost)))),
      ...methods.map((method) => missed(row, method)),
    ]),
  );
  return [qualities, costs];
}

/** At each floor that both promise: cascade routing, and the plain cascade. */
function pairs({ by }: RoutingRow["splits"][number]) {
  return by["cascade routing"].floors.flatMap((own, at) => {
    const other = by["plain cascade"].floors[at] ?? null;
    return own === null || other === null ? [] : [[own, other] as const];
  });
}

/** Promised floors that the held-out prompts' mean misses, of those promised. */
function missed(row: RoutingRow, method: Method): string {
  const kept = row.splits.flatMap(({ floors, by }) =>
    by[method].floors.flatMap((own, at) => (own === null ? [] : [own.quality < (floors[at] ?? 0)])),
  );
  return `${kept.filter(Boolean).length} of ${kept.length}`;
}
