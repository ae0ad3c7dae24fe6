import { type ComparedGate, type GateCascade, type RatePlanner, ratePlanners } from "@/server/planning/rates/ratePlanners";
import { type AtRate, highestKept, highestReplanned, measuredAt, type RateMeasuring } from "@/server/planning/rates/replanned";
import { baseSeconds, drawTraffic } from "@/solver/baselines/measure";
import { modelPerturbation } from "@/solver/calibration/modelPerturbation";
import { saturationRate } from "@/solver/engine/saturation";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { workloadOf } from "../lib/compareData";
import { type CascadiaLadder, cascadiaCases } from "./cases";
import { agreementGate, gatedCascades, judgeGate, withStart } from "./gates";
import { type CaseScene, caseName, caseScene, type LadderScene, ladderScene } from "./scene";

/** What engines are while plans are measured: the planner's model, or one that deviates from it by a seed as real engines do. */
type Engines = "as modelled" | "perturbed";

/** One system in one case under one seed. */
export interface RaceRow {
  readonly ladder: string;
  readonly case: string;
  readonly floor: number;
  readonly seed: number;
  readonly system: string;
  /** At its highest rate, planned anew for each rate; null: it keeps the deadline at none. */
  readonly highest: AtRate | null;
  /** At half of CascadeServe's highest rate, which is the same for all: what costs are compared at; null where it has no plan for it. */
  readonly half: AtRate | null;
  /** Highest rate of the plan of `half`, kept; null where there is no such plan. */
  readonly kept: number | null;
  /** Under SLO scales at shares of CascadeServe's highest rate, planned anew for each; null: no plan. */
  readonly scales: readonly ScaleAt[];
}

/** A system at a rate, and the SLO scale that it needs there; null: overloaded. */
type ScaleAt = (AtRate & { readonly sloScale: number | null }) | null;

/** The system by whose highest rate the compared rates are set. */
const REFERENCE = "CascadeServe";

/** The first rate: this share of what the largest model carries alone on all GPUs. */
const FIRST_RATE = 0.5;

const REQUESTS_AT_SATURATION = 900;

interface SeedBySeed {
  /** Rows of an earlier run: seeds that are whole in them are not raced again. */
  readonly before: readonly RaceRow[];
  /** Called with all rows so far when a seed is done: a run that is stopped keeps those of whole seeds. */
  onSeed(rows: readonly RaceRow[]): void;
}

/** All cases of a ladder under all seeds, seed by seed. */
export async function raceLadder(ladder: CascadiaLadder, engines: Engines, { before, onSeed }: SeedBySeed): Promise<readonly RaceRow[]> {
  const done = wholeSeeds(ladder, before);
  const all = (): readonly RaceRow[] => cascadiaCases.seeds.flatMap((seed) => done.get(seed) ?? []);
  for (const seed of cascadiaCases.seeds.filter((one) => !done.has(one))) {
    const rows: RaceRow[] = [];
    const scene = await ladderScene(ladder, seed);
    const [judge, agreement] = [judgeGate(scene), await agreementGate(scene)];
    const gates = { judge, own: [judge, agreement].flatMap((gate) => [withStart(gate), gate]), cascades: gatedCascades(scene, judge) };
    for (const one of ladder.cases) {
      const own = caseScene(scene, one);
      const begun = performance.now();
      rows.push(...raceCase(scene, own, { measuring: await measuringOf(scene, own, engines), gates }));
      process.stderr.write(`${own.name}, seed ${seed}: ${((performance.now() - begun) / 1000).toFixed(0)} s\n`);
    }
    done.set(seed, rows);
    onSeed(all());
  }
  return all();
}

/** Rows by seed, of those seeds that have every case of the ladder. */
function wholeSeeds(ladder: CascadiaLadder, rows: readonly RaceRow[]): Map<number, readonly RaceRow[]> {
  const names = ladder.cases.map((one) => caseName(ladder, one));
  const bySeed = cascadiaCases.seeds.map((seed) => [seed, rows.filter((row) => row.seed === seed)] as const);
  return new Map(bySeed.filter(([, own]) => names.every((name) => own.some((row) => row.case === name))));
}

/** The gates of a ladder: the judge of baselines, those that Weir chooses among, and those of cascades that are systems of their own. */
interface RaceGates {
  readonly judge: ComparedGate;
  readonly own: readonly ComparedGate[];
  readonly cascades: readonly GateCascade[];
}

/** Every system of a case: its highest rate, the kept plan's, and its SLO scales. */
function raceCase(
  { ladder, seed, workload }: LadderScene,
  { name, floor, context, profiled }: CaseScene,
  { measuring, gates }: { readonly measuring: RateMeasuring; readonly gates: RaceGates },
): readonly RaceRow[] {
  const planners = ratePlanners({
    context,
    floor,
    judge: gates.judge,
    gates: gates.own,
    cascades: gates.cascades,
    trained: workload.outcomes,
    ...(profiled === undefined ? {} : { profiled }),
  });
  const highest = new Map<string, AtRate | null>();
  let from = firstRate(context);
  // The reference first: its highest rate is the others' first.
  for (const planner of [...planners].sort((a, b) => Number(b.kind === REFERENCE) - Number(a.kind === REFERENCE))) {
    const found = highestReplanned(planner, measuring, from);
    highest.set(planner.kind, found);
    if (planner.kind === REFERENCE && found !== null) from = found.requestsPerSecond;
    process.stderr.write(
      `  ${planner.kind}: ${found === null ? "at no rate" : `${found.requestsPerSecond.toFixed(1)}/s, ${found.quality.toFixed(1)}, ${found.cascade} (${found.gate})`}\n`,
    );
  }
  const base = measuring.deadlineSeconds / cascadiaCases.sloScale;
  return planners.map((planner) => {
    const half = planner.plan(from / 2);
    return {
      ...{ ladder: ladder.name, case: name, floor, seed, system: planner.kind, highest: highest.get(planner.kind) ?? null },
      half: half === null ? null : measuredAt(half, measuring, from / 2),
      kept: half === null ? null : highestKept(half, measuring, from / 2),
      scales: cascadiaCases.sloRates.map((share) => scaleAt(planner, measuring, share * from, base)),
    };
  });
}

function scaleAt(planner: RatePlanner, measuring: RateMeasuring, requestsPerSecond: number, base: number): ScaleAt {
  const planned = planner.plan(requestsPerSecond);
  if (planned === null) return null;
  const found = measuredAt(planned, measuring, requestsPerSecond);
  return { ...found, sloScale: found.p95Seconds === null ? null : found.p95Seconds / base };
}

/** Held-out prompts on the second half of the trace, whose first half was planned with. */
export async function measuringOf(scene: LadderScene, { context }: CaseScene, engines: Engines): Promise<RateMeasuring> {
  const { ladder, workload, seed } = scene;
  const { arrivalSeconds } = await workloadOf({ family: ladder.family, tasks: ladder.tasks, judgeAuc: cascadiaCases.judge.auc });
  const unseen = arrivalSeconds.subarray(arrivalSeconds.length / 2);
  const begins = unseen[0] ?? 0;
  const { models, shapes, measuring, judge } = context;
  const source = {
    outcomes: workload.outcomes,
    arrivalSeconds: unseen.map((seconds) => seconds - begins),
    judgeSeconds: judge.secondsPerCall,
  };
  return {
    traffic: drawTraffic(source, { rows: measuring, requests: cascadiaCases.requests, seed }),
    measuring,
    choice: {
      models,
      shapes,
      ...(engines === "as modelled"
        ? {}
        : { truth: (modelled, engineId) => modelPerturbation(modelled, vllmProfile.errors, { seed, engineId }) }),
    },
    deadlineSeconds: cascadiaCases.sloScale * baseSeconds(workload.outcomes, measuring, { models, shapes }),
    usdPerGpuHour: context.request.situation.cluster.usdPerGpuHour,
  };
}

function firstRate({ request, shapes, planning, gpus }: CaseScene["context"]): number {
  const largest = shapes.findLastIndex((own) => own.length > 0);
  const [smallest] = shapes[largest] ?? [];
  const column = request.situation.workload.outcomes.models[largest];
  if (smallest === undefined || column === undefined) throw new Error("no replica of the largest model");
  const requests = Int32Array.from({ length: REQUESTS_AT_SATURATION }, (_, at) => planning[at % planning.length] ?? 0);
  const work = {
    inputTokens: requests.map((row) => request.situation.workload.outcomes.inputTokens[row] ?? 0),
    outputTokens: requests.map((row) => column.outputTokens[row] ?? 0),
  };
  const { tp, pp } = smallest.shape;
  return (FIRST_RATE * (saturationRate(smallest.replica, work, REQUESTS_AT_SATURATION) ?? 1) * gpus) / (tp * pp);
}
