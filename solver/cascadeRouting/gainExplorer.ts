import type { EvaluatedRouting, Explorer } from "@/solver/cascade/explore/explorer";
import { gatherExploration } from "@/solver/cascade/explore/gatherExploration";
import { routeByGain } from "@/solver/cascade/routing/gainRouting";
import { qualityLowerBound, selectionCritical } from "@/solver/cascade/routing/qualityBound";
import { type PlanningSample, planningSample } from "@/solver/cascade/routing/routing";
import { MOST_ROUTED_STAGES } from "@/solver/nextModel/cascadeRoutingDocument";
import { mixSeed } from "@/solver/numeric/random";
import type { StartRouter } from "@/solver/plan/directStart";
import { splitPrompts } from "@/solver/workload/split";
import type { Workload } from "@/solver/workload/workload";
import { type FittedLadder, fitLadder, type GainSetting, gainSetting, tradeOffs } from "./gainSettings";
import { ladderCosts } from "./ladderCosts";

/** Halvings of the step between two trade-offs of the grid, one of which keeps the floor: the rest is below the noise of the bound. */
const HALVINGS = 4;

interface GainSituation {
  /** Its outcomes have the router's scores as `routerScore`, of every model. */
  readonly workload: Workload;
  readonly router: StartRouter;
}

/** The settings of one explorer's gates on a grid of trade-offs. */
interface SearchedGrid {
  readonly sample: PlanningSample;
  readonly onGrid: readonly {
    readonly ladder: FittedLadder;
    readonly settings: readonly { readonly tradeOff: number; readonly setting: GainSetting | null }[];
  }[];
  readonly family: readonly GainSetting[];
}

/**
 * Explorers of cascade routing instead of thresholds, on the tables of others that differ in their gates: every set of two to four models at
 * trade-offs λ on a grid, and, for a floor, at trade-offs between the two of the grid around it, so that the floor's lower bound just holds. The
 * bound is calibrated over the settings of the grid, as that of thresholds is over theirs, of all gates together: a planner picks among all.
 *
 * @returns by given explorer; why there is none, in a sentence.
 */
export function gainExplorers(explorers: readonly Explorer[], situation: GainSituation): ReadonlyMap<Explorer, Explorer | string> {
  const searched = explorers.map((explorer) => [explorer, searchGrid(explorer, situation)] as const);
  const grids = searched.flatMap(([, grid]) => (typeof grid === "string" ? [] : [grid]));
  const [first] = explorers;
  if (first === undefined || grids.length === 0)
    return new Map(searched.flatMap(([own, grid]) => (typeof grid === "string" ? [[own, grid]] : [])));
  // Neighbours in trade-off are nearly the same routing: with more gates, as many fewer of each.
  const family = grids.flatMap((grid) => grid.family.filter((_, at) => at % grids.length === 0));
  const critical = selectionCritical(
    family.map(({ routed, gpuSeconds }) => ({ accepted: routed.accepted, quality: routed.quality, cost: gpuSeconds })),
    { confidence: first.input.qualityConfidence, seed: mixSeed(first.input.seed, "cascade routing bound") },
  );
  return new Map(
    searched.map(([own, grid]) => [own, typeof grid === "string" ? grid : explorerOver(own, grid, { router: situation.router, critical })]),
  );
}

/** Fits every ladder with the explorer's gates and routes its planning prompts; why it cannot, in a sentence. */
function searchGrid(explorer: Explorer, { workload }: GainSituation): SearchedGrid | string {
  const { input, cascades } = explorer;
  const rows = splitPrompts(workload.outcomes.promptIds.length, workload.seed).planning;
  // Gates' scores are those that the explorer plans with.
  const { judged, asksJudge } = input.sample;
  const scored = { ...planningSample(workload.outcomes, rows, input.sample.models), judged };
  const sample = asksJudge === undefined ? scored : { ...scored, asksJudge };
  if (!cascades.some(({ length }) => length > 1))
    return "Cascade routing chooses between models, and only one of this ladder can be served here.";
  if (sample.routerScore === undefined)
    return "Cascade routing needs a router's score of every model before any has answered, and this workload has none: train a predictor of confidence under Predictors.";
  if (input.fixedTopology !== undefined) return "Cascade routing is planned with its engines, and here the deployment is given.";
  // Tables made for other questions would be shared: no answer depends on them.
  explorer.search();
  const costs = ladderCosts(explorer);
  const ladders = cascades
    .filter(({ length }) => length > 1 && length <= MOST_ROUTED_STAGES)
    .filter((stages) => stages.every((model) => Number.isFinite(costs.gpuSeconds[model])))
    .flatMap((stages) => fitLadder(sample, stages, costs) ?? []);
  if (ladders.length === 0) return `Cascade routing is fitted to labelled planning prompts, and ${sample.prompts} are too few.`;
  const onGrid = ladders.map((ladder) => {
    const settings = tradeOffs(ladder).map((tradeOff) => ({ tradeOff, setting: gainSetting(sample, ladder, tradeOff) }));
    input.progress?.({ phase: "searching", done: settings.length, of: null });
    return { ladder, settings };
  });
  const family = onGrid.flatMap(({ settings }) => settings.flatMap(({ setting }) => setting ?? []));
  if (family.length === 0) return "Cascade routing sends every planning prompt to one model here, so it is that model alone.";
  return { sample, onGrid, family };
}

function explorerOver(
  explorer: Explorer,
  { sample, onGrid, family }: SearchedGrid,
  { router, critical }: Pick<GainSituation, "router"> & { readonly critical: number },
): Explorer {
  const { input } = explorer;
  const lowOf = ({ routed }: GainSetting): number => qualityLowerBound(routed, critical);
  const points: EvaluatedRouting[] = [];
  const known = new Set<string>();
  const add = (setting: GainSetting): void => {
    // Neighbouring trade-offs may send every prompt the same way.
    const key = `${setting.stages.join("-")} ${setting.routed.quality} ${setting.routed.share.join("-")}`;
    if (known.has(key)) return;
    known.add(key);
    const { accepted: _, ...routed } = setting.routed;
    const { stages, thresholds, document } = setting;
    points.push(explorer.evaluate({ stages, thresholds, startBelow: 0, routed, qualityLow: lowOf(setting), byGain: { document, router } }));
  };
  for (const setting of family) if (!input.cancelled()) add(setting);
  const found = points.length;
  const onlyGrid = [...known];

  function between(ladder: FittedLadder, floor: number, [low, high]: readonly [number, number]): void {
    let [keeps, misses] = [low, high];
    for (let step = 0; step < HALVINGS; step += 1) {
      const middle = Math.sqrt(keeps * misses);
      const setting = gainSetting(sample, ladder, middle);
      if (setting !== null) add(setting);
      if (setting !== null && lowOf(setting) >= floor) keeps = middle;
      else misses = middle;
    }
  }

  const routing = (index: number): EvaluatedRouting => {
    const point = points[index];
    if (point === undefined) throw new Error(`no routing ${index} among ${points.length}`);
    return point;
  };
  return {
    ...explorer,
    byGain: true,
    search() {
      explorer.search();
      points.length = found;
      known.clear();
      for (const key of onlyGrid) known.add(key);
    },
    focus({ floor }) {
      if (floor === null) return;
      for (const { ladder, settings } of onGrid) {
        const keeping = settings.filter(({ setting }) => setting !== null && lowOf(setting) >= floor);
        const last = keeping.at(-1);
        const next = last === undefined ? undefined : settings[settings.indexOf(last) + 1];
        if (last !== undefined && next !== undefined && !input.cancelled()) between(ladder, floor, [last.tradeOff, next.tradeOff]);
      }
    },
    exploration: () => gatherExploration(input, points),
    add() {
      throw new Error("cascade routing has no thresholds to add by hand");
    },
    routing,
    whole(index) {
      const { stages, byGain } = routing(index);
      if (byGain === undefined) throw new Error(`the routing ${index} does not choose by gain`);
      return routeByGain(sample, stages, byGain.document);
    },
  };
}
