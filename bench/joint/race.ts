import { justInTimeOver } from "@/server/lab/aragogRace";
import { TYPICAL_PROGRAMS } from "@/server/lab/labCells";
import { drawnDocuments } from "@/server/lab/labConfigurations";
import { enginesByModel } from "@/server/lab/labEngines";
import { learntPrograms, tableOf } from "@/server/lab/labPrograms";
import { noUserCards } from "@/solver/hardware/catalogue";
import { capacityOf } from "@/solver/lab/engineFigures";
import type { LabCell, WorkflowFigures } from "@/solver/lab/labCell";
import type { LabReplicas, LabSpec, LabSystem } from "@/solver/lab/labSpec";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { withCallGates } from "@/solver/stageGates/gateCandidates";
import { cascadeText } from "@/solver/wording/wording";
import { RECORDED_RUN } from "@/solver/workflow/measuredPrograms";
import { splitPrompts } from "@/solver/workload/split";
import { qwenLadder, raceAnswers } from "../aragog/raceLadders";
import { hardware } from "../aragog/seededRace";
import { agentRuns } from "../lib/agentRuns";
import { withModelledConfidence } from "../lib/modelledConfidence";
import { once } from "../lib/once";
import { runCells } from "../lib/runCells";
import cases from "./cases.json" with { type: "json" };
import type { Mix } from "./mixes";
import { plannedLoads } from "./plannedLoads";
import { cheapestCascade, cheapestModel, qualityOf } from "./singles";
import { jointSystems } from "./systems";

/** Programs of one kind of a mix: all, single requests, the agents' programs, questions to the ensemble, or recorded runs where it has any. */
export const PARTS = ["all", "single requests", "agents", "ensemble", "recorded runs"] as const;
export type Part = (typeof PARTS)[number];

/** Figures of one system on one part of a mix at one load, seed by seed. */
export interface PartRow {
  readonly mix: string;
  /** Least mean label of the mix's single requests, on planning prompts. */
  readonly floor: number;
  readonly load: number;
  readonly system: string;
  readonly part: Part;
  readonly meanSeconds: readonly number[];
  readonly p95Seconds: readonly number[];
  /** Seconds for each token that a program wrote. */
  readonly secondsPerToken: readonly number[];
  /** Share of the programs, in percent, that end within `sloFactor` times their workflow's mean latency on idle engines of the largest model. */
  readonly withinSlo: readonly number[];
  readonly quality: readonly number[];
}

const engines: readonly LabReplicas[] = cases.engines.map(({ model, tp, count }) => ({
  ...{ model, gpu: "h100-sxm", precision: "bf16", tp, pp: 1, count },
  maxSequences: cases.maxSequences,
}));

/** A part with a smaller share of the programs is not compared: some seeds have none of it. */
const LEAST_SHARE = 0.01;

/** So few programs a second that no two share an engine. */
const IDLE = { rate: 1e-3, programs: 200 };

/** What all systems of a mix have in common. */
async function sceneOf(drawn: Mix) {
  const { shares: all, floor } = drawn;
  const answers = await raceAnswers(qwenLadder);
  const workload = withModelledConfidence(answers.workload, cases.allTerms.confidenceAuc);
  const { texts } = answers;
  const known = enginesByModel(engines, hardware);
  const outcomes = tableOf(workload, qwenLadder.models);
  const shares = all.filter(({ workflow }) => workflow !== RECORDED_RUN);
  const ofRuns = all.find(({ workflow }) => workflow === RECORDED_RUN);
  const recorded = ofRuns && { recorded: { id: "bench", runs: await agentRuns(), share: ofRuns.share } };
  const base: Omit<LabSpec, "systems" | "rates" | "seeds" | "programs"> = {
    ...{ mix: [...shares], correlation: cases.correlation, misleads: cases.misleads },
    ...{ workloadId: "bench", arrivals: "poisson", replicas: [...engines], usdPerGpuHour: 1 },
    ...{ queue: "centre", aging: null, telemetrySeconds: 1, enginesDeviate: true },
    overhead: { routeSeconds: 0.01, predictSeconds: 0, decideSeconds: 0.001 },
  };
  const learnt = { spec: { ...base, systems: [], rates: [], seeds: [], programs: TYPICAL_PROGRAMS }, workload, ...recorded };
  const { sample } = learntPrograms({ task: learnt, table: outcomes, sketches: [] }, TYPICAL_PROGRAMS);
  const workflows = drawnDocuments(shares.filter(({ workflow }) => workflow !== cases.single));
  const policy = justInTimeOver({ engines: known, sample, workflows: workflows.map(withExperts), catalogue: hardware.catalogue });
  const scored = withCallGates(policy, { workload, sample });
  if (!scored.ok) throw new Error(scored.message);
  const { planning } = splitPrompts(workload.outcomes.promptIds.length, workload.seed);
  const ground = { outcomes, planning, costs: policy.models.map(({ cost }) => cost) };
  const quality = outcomes.models.map((_, model) => qualityOf(ground, model));
  const [least = 0, most = 0] = [quality[0], quality.at(-1)];
  const keptFloor = least + floor * (most - least);
  const capacity = capacityOf(known, sample);
  const loads = await plannedLoads({
    ...{ mix: { ...drawn, shares }, traffic: { outcomes, planning, seed: workload.seed }, floor: keptFloor },
    ...{ workflows: policy.workflows.map(({ workflow }) => workflow), engines, modelled: known },
  });
  return {
    capacity,
    floor: keptFloor,
    parts: {
      ...{
        policy,
        scored: scored.policy,
        cascade: cheapestCascade(ground, keptFloor),
        model: cheapestModel(ground, keptFloor),
        quality,
        planned: sample,
      },
      loads,
    },
    run: (spec: Pick<LabSpec, "systems" | "rates" | "seeds" | "programs">) =>
      runCells({
        ...{ spec: { ...base, ...spec }, workload, userCards: noUserCards, ...recorded },
        ...{ engineProfile: hardware.profile, artefacts: {}, texts: { kind: "given", texts } },
      }),
  };
}

/** The ensemble's experts are a model each, smallest first, and the largest aggregates; other workflows run on any. */
function withExperts(workflow: WorkflowDocument): WorkflowDocument {
  const { workflow: name, experts, aggregator } = cases.ensemble;
  if (workflow.name !== name) return workflow;
  const pinned = new Map([
    ...experts.map((expert, at) => [expert, cases.engines[at]?.model] as const),
    [aggregator, cases.engines.at(-1)?.model],
  ]);
  return {
    ...workflow,
    agents: workflow.agents.map((agent) => {
      const model = pinned.get(agent.name);
      if (model === undefined) throw new Error(`There is no expert for ${agent.name}.`);
      return { ...agent, models: [model] };
    }),
  };
}

/** A mix, how its single requests are answered, and the figures of every system. */
export interface MixRace {
  readonly mix: Mix;
  /** Least mean label of single requests, on planning prompts. */
  readonly floor: number;
  readonly cascade: string;
  readonly rows: readonly PartRow[];
}

/** How often a mix is run. */
interface Runs {
  readonly loads: readonly number[];
  readonly seeds: readonly number[];
  readonly programs: number;
}

interface RaceOptions {
  /** The systems, of those of the mix; left out: all. */
  readonly choose?: (parts: Parameters<typeof jointSystems>[0]) => readonly LabSystem[];
  /** Rows of an earlier run: systems that have them at a load, of as many seeds, are not run again there. */
  readonly kept?: readonly PartRow[];
  /** Called with all rows of the mix so far, after each load. */
  readonly onRows?: (rows: readonly PartRow[]) => void;
}

/** The rows of an earlier run on a mix at a load; those of another number of seeds are left out. */
export const keptAt = (kept: readonly PartRow[], at: Pick<PartRow, "mix" | "load"> & { readonly seeds: number }): readonly PartRow[] =>
  kept.filter(({ mix, load, meanSeconds }) => mix === at.mix && load === at.load && meanSeconds.length === at.seeds);

/** Races systems on a mix, load by load. */
export async function raceMix(
  mix: Mix,
  { loads, seeds, programs }: Runs,
  { choose = jointSystems, kept = [], onRows = () => undefined }: RaceOptions = {},
): Promise<MixRace> {
  const { capacity, floor, parts, run } = await sceneOf(mix);
  const systems = choose(parts);
  const latencySlo = once(async () => {
    const idle = await run({ systems: [largestAlone(parts)], rates: [IDLE.rate], seeds: [...seeds].slice(0, 1), programs: IDLE.programs });
    return new Map((idle[0]?.workflows ?? []).map(({ workflow, meanSeconds }) => [workflow, cases.sloFactor * meanSeconds]));
  });
  const ownParts = PARTS.filter((part) => {
    const shares = mix.shares.map(({ workflow, share }) => (belongs(part, workflow) ? share : 0));
    return shares.reduce((sum, share) => sum + share) >= LEAST_SHARE;
  });

  async function raceAt(load: number, own: readonly LabSystem[]): Promise<readonly PartRow[]> {
    if (own.length === 0) return [];
    const slo = await latencySlo();
    const rate = Number((load * capacity).toPrecision(3));
    const cells = await run({ systems: [...own], rates: [rate], seeds: [...seeds], programs });
    return own.flatMap(({ name: system }, index) => {
      const ofSystem = cells.filter((cell) => cell.system === index);
      return ownParts.map((part) => ({ mix: mix.name, floor, load, system, part, ...figuresOf(ofSystem, part, slo) }));
    });
  }

  const rows: PartRow[] = [];
  for (const load of loads) {
    const there = keptAt(kept, { mix: mix.name, load, seeds: seeds.length }).filter(({ part }) => ownParts.includes(part));
    const missing = systems.filter(({ name }) => !there.some(({ system }) => system === name));
    const found = [...there, ...(await raceAt(load, missing))];
    rows.push(...systems.flatMap(({ name }) => found.filter(({ system }) => system === name)));
    onRows(rows);
  }
  const cascade =
    parts.cascade.kind === "cascade" ? cascadeText({ ...parts.cascade, stages: parts.cascade.stages.map(({ model }) => model) }) : "";
  return { mix, floor, cascade, rows };
}

/** Every request to the largest model. */
const largestAlone = ({ policy: { models, order, place } }: Parameters<typeof jointSystems>[0]): LabSystem => ({
  ...{ name: "largest model", lengths: "none", confidence: "none" },
  policy: { kind: "fixed", model: models.at(-1)?.model ?? "", order, place },
});

function partOf(workflow: string): Part {
  if (workflow === cases.single) return "single requests";
  if (workflow === cases.ensemble.workflow) return "ensemble";
  return workflow === RECORDED_RUN ? "recorded runs" : "agents";
}

const belongs = (part: Part, workflow: string): boolean => part === "all" || part === partOf(workflow);

function figuresOf(
  cells: readonly LabCell[],
  part: Part,
  slo: ReadonlyMap<string, number>,
): Omit<PartRow, "mix" | "floor" | "load" | "system" | "part"> {
  const each = (read: (workflows: readonly WorkflowFigures[], cell: LabCell) => number): readonly number[] =>
    cells.map((cell) =>
      read(
        (cell.workflows ?? []).filter(({ workflow }) => belongs(part, workflow)),
        cell,
      ),
    );
  const weighted = (read: (of: WorkflowFigures) => number) => (workflows: readonly WorkflowFigures[]) =>
    workflows.reduce((sum, of) => sum + of.programs * read(of), 0) / workflows.reduce((sum, { programs }) => sum + programs, 0);
  return {
    meanSeconds: each(weighted(({ meanSeconds }) => meanSeconds)),
    p95Seconds: each((workflows, cell) => (part === "all" ? (cell.latencyQuantiles[95] ?? Number.NaN) : pooledQuantile(workflows, 0.95))),
    secondsPerToken: each(weighted(({ meanSecondsPerToken }) => meanSecondsPerToken)),
    withinSlo: each(weighted(({ workflow, latencyQuantiles }) => 100 * shareWithin(latencyQuantiles, slo.get(workflow) ?? Number.NaN))),
    quality: each(weighted(({ quality }) => quality ?? Number.NaN)),
  };
}

/** Share of values up to a limit, from their percentiles. */
export function shareWithin(percentiles: readonly number[], limit: number): number {
  const above = percentiles.findIndex((value) => value > limit);
  if (above < 0) return 1;
  if (above === 0) return 0;
  const [low = 0, high = 0] = [percentiles[above - 1], percentiles[above]];
  return (above - 1 + (limit - low) / (high - low)) / 100;
}

/** A quantile over the programs of several workflows, each given by its percentiles. */
export function pooledQuantile(workflows: readonly WorkflowFigures[], share: number): number {
  const all = workflows.reduce((sum, { programs }) => sum + programs, 0);
  let [low, high] = [0, Math.max(0, ...workflows.map(({ latencyQuantiles }) => latencyQuantiles[100] ?? 0))];
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    const within =
      workflows.reduce((sum, { programs, latencyQuantiles }) => sum + programs * shareWithin(latencyQuantiles, middle), 0) / all;
    if (within < share) low = middle;
    else high = middle;
  }
  return high;
}
