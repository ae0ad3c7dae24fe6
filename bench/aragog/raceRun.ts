import { justInTimeOver, perWorkflow } from "@/server/lab/aragogRace";
import { TYPICAL_PROGRAMS } from "@/server/lab/labCells";
import { drawnDocuments } from "@/server/lab/labConfigurations";
import { enginesByModel } from "@/server/lab/labEngines";
import { heldOutPrograms, planningPrograms, tableOf } from "@/server/lab/labPrograms";
import { runLab } from "@/server/lab/runLab";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { aragogSystems } from "@/solver/lab/aragogSystems";
import { capacityOf } from "@/solver/lab/engineFigures";
import type { LabCell } from "@/solver/lab/labCell";
import type { LabSpec, LabSystem } from "@/solver/lab/labSpec";
import { qualitiesOf } from "@/solver/lab/perWorkflow";
import { mean } from "@/solver/numeric/quantile";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { enginesOf, type RaceAnswers, type RaceLadder, raceAnswers, withSmall } from "./raceLadders";

/** Splits of the prompts and draws of the programs that figures are over. */
const SEEDS = [1, 2, 3] as const;

/** Nothing published tells how alike the stages of a program are, nor how often a wrong answer misleads: halfway between the ends. */
export const HALFWAY = { correlation: 0.5, misleads: 0.5 } as const;

/** How many times the programs of a run fill all places that engines have below saturation. */
const BATCHES_SERVED = 12;

/** Programs come so many times faster than all engines together could ever answer them: every engine that a policy uses is full. */
const OVERLOAD = 2;

/** Shares of what a system serves at most, at which it still keeps up. */
const KEEPS_UP = 0.9;

/** Reading a prompt and telling its accurate configurations, about as `configurations` measures it. */
const ROUTE_SECONDS = 0.01;

export const ORACLE = "Aragog, oracle sets";
export const LEARNT = "Aragog";
export const PER_INPUT = "Per-input";
export const PER_WORKFLOW = "Per-workflow";

/** Weir's heads run on a core of the machine that routes, so that the router's GPU may serve too. */
const WITHOUT_GPU: readonly string[] = [ORACLE, LEARNT];
export const allGpus = (name: string): string => `${name}, all 8 GPUs`;

const hasRouter = (name: string): boolean => name === ORACLE || name === LEARNT || name === "Greedy rounds" || name.startsWith("B ");

/** Systems whose latency is raced. */
const PACED: readonly string[] = [PER_WORKFLOW, PER_INPUT, allGpus(ORACLE)];

const hardware = { catalogue: catalogueOf(noUserCards), profile: vllmProfile };

/** One workflow on one ladder, and how. */
export interface RaceCase {
  /** What of the source's evaluation it is: "all", "half the GPUs". */
  readonly part: string;
  readonly ladder: RaceLadder;
  readonly workflow: string;
  readonly gpus: 8 | 4;
  /** Whether agents must share a model, as in the source: critic and refiner, all voters. */
  readonly constrained?: true;
  readonly correlation: number;
  readonly misleads: number;
  /** Systems by name, as `aragogSystems` has them; left out: all. */
  readonly only?: readonly string[];
  /** Widths of beams that are raced too, with an oracle's sets. */
  readonly beams?: readonly number[];
  /** Seeds, and how often programs fill all places, where they are not those of the race. */
  readonly seeds?: readonly number[];
  readonly batches?: number;
  /** Whether latency is raced too, at rates that systems keep up with; else throughput alone. */
  readonly latency?: true;
}

/** What one system did at one load, each figure seed by seed. */
export interface RaceRow {
  readonly part: string;
  readonly ladder: string;
  readonly workflow: string;
  readonly correlation: number;
  readonly misleads: number;
  readonly system: string;
  /** `overload`, or the system of whose most this rate is nine tenths. */
  readonly load: string;
  readonly offeredPerSecond: number;
  readonly programsPerSecond: readonly number[];
  readonly p25Seconds: readonly number[];
  readonly p50Seconds: readonly number[];
  readonly p95Seconds: readonly number[];
  readonly quality: readonly number[];
  /** Of the same programs, all on the largest model. */
  readonly largestQuality: readonly number[];
  readonly unserved: number;
  /** Requests by model, smallest first, in shares. */
  readonly shares: readonly number[];
}

/** Agents of the source's constrained spaces that must have the model of another. */
const SAME_MODEL: Readonly<Record<string, (agent: string) => string | undefined>> = {
  "self-refine": (agent) => (agent === "refiner" ? "critic" : undefined),
  voting: (agent) => (agent.startsWith("voter-") && agent !== "voter-1" ? "voter-1" : undefined),
};

function declaredFor({ workflow, constrained }: RaceCase): readonly WorkflowDocument[] {
  return drawnDocuments([{ workflow }]).map((document) => ({
    ...document,
    agents: document.agents.map((agent) => {
      const sameModelAs = constrained && SAME_MODEL[workflow]?.(agent.name);
      return sameModelAs ? { ...agent, sameModelAs } : agent;
    }),
  }));
}

/** A case under one seed: the seed splits the prompts anew, so that intervals over seeds hold the split and what is learnt of it. */
interface SeededRace {
  readonly answers: RaceAnswers;
  readonly spec: Omit<LabSpec, "rates" | "systems">;
  readonly systems: readonly LabSystem[];
  readonly capacity: number;
  readonly largestQuality: number;
}

function seeded(of: RaceCase, { workload: unsplit, texts }: RaceAnswers, seed: number): SeededRace {
  const { ladder, workflow, gpus, correlation, misleads, only, beams = [], batches = BATCHES_SERVED } = of;
  const workload = { ...unsplit, seed };
  const replicas = [...enginesOf(ladder, gpus)];
  const engines = enginesByModel(replicas, hardware);
  const table = tableOf(workload, ladder.models);
  const described = { mix: [{ workflow, share: 1 }], correlation, misleads };
  const sample = planningPrograms(described, workload, table, TYPICAL_PROGRAMS);
  const policy = justInTimeOver({ engines, sample, workflows: declaredFor(of), catalogue: hardware.catalogue });
  const places = replicas.reduce(
    (sum, { model, count }) => sum + count * (policy.models.find((own) => own.model === model)?.saturationBatch ?? 0),
    0,
  );
  const programs = Math.ceil((batches * places * TYPICAL_PROGRAMS) / sample.program.length);
  const spec: SeededRace["spec"] = {
    ...{ ...described, workloadId: "bench", programs, arrivals: "poisson", replicas, usdPerGpuHour: 1, seeds: [seed] },
    ...{ queue: "engines", aging: null, telemetrySeconds: 1 },
    overhead: { routeSeconds: ROUTE_SECONDS, predictSeconds: 0, decideSeconds: 0.001 },
  };
  const served = heldOutPrograms({ ...spec, rates: [1], systems: [] }, workload, table, seed);
  // With perfect knowledge, as in the source: of the very programs that are served.
  const fixed = perWorkflow(policy, served);
  const raced = aragogSystems((selection) => ({ ...policy, selection }), fixed).map(({ about: _, ...system }) => system);
  const own = raced.filter(({ name }) => only?.includes(name) ?? true);
  const [oracle] = raced.filter(({ name }) => name === ORACLE);
  const widths = beams.map(
    (width): LabSystem => ({ ...(oracle as LabSystem), name: `B ${width}`, policy: { ...policy, selection: { kind: "beam", width } } }),
  );
  const wider = withSmall(replicas);
  const space = configurationSpace(
    policy.workflows[0]?.workflow as WorkflowDocument,
    policy.models.map(({ model }) => model),
  );
  return {
    answers: { workload, texts },
    spec,
    systems: [
      // Who has no router has its GPU, where there is one beyond the engines'.
      ...[...own, ...widths].map((system) => (gpus === 8 && !hasRouter(system.name) ? { ...system, replicas: wider } : system)),
      ...own
        .filter(({ name }) => gpus === 8 && WITHOUT_GPU.includes(name))
        .map((system) => ({ ...system, name: allGpus(system.name), replicas: wider })),
    ],
    capacity: capacityOf(engines, sample),
    largestQuality: qualitiesOf(served, workflow, space)[space.size - 1] ?? Number.NaN,
  };
}

/** Cells of one seed at rates, in the order of the systems. */
async function run({ answers, spec, systems }: SeededRace, rates: readonly number[]): Promise<readonly LabCell[]> {
  const cells: LabCell[] = [];
  const task = {
    ...{ spec: { ...spec, rates: [...rates], systems: [...systems] }, workload: answers.workload, userCards: noUserCards },
    ...{ engineProfile: vllmProfile, artefacts: {}, texts: { kind: "given" as const, texts: answers.texts } },
  };
  await runLab(task, {
    ...{ done: [], signal: new AbortController().signal, threads: 1, onDoing: () => undefined },
    onCell: (cell) => cells.push(cell),
  });
  return cells;
}

/** All systems of a case, at overload and, where asked for, at nine tenths of what per-input and Aragog serve at most. */
export const raceOf = async (of: RaceCase): Promise<readonly RaceRow[]> => raceOn(of, await raceAnswers(of.ladder));

/** The same on answers that are at hand. */
export async function raceOn(of: RaceCase, answers: RaceAnswers): Promise<readonly RaceRow[]> {
  const races = (of.seeds ?? SEEDS).map((seed) => seeded(of, answers, seed));
  const overload = OVERLOAD * Math.max(...races.map(({ capacity }) => capacity));
  const full = await Promise.all(races.map((race) => run(race, [overload])));
  const rows = rowsOf(of, races, full, [{ load: "overload", rate: overload }]);
  if (of.latency === undefined) return rows;
  const paces = races.map((race) => ({ ...race, systems: race.systems.filter(({ name }) => PACED.includes(name)) }));
  const loads = [PER_INPUT, allGpus(ORACLE)].flatMap((name) => {
    const own = rows.find(({ system }) => system === name);
    return own === undefined ? [] : [{ load: name, rate: KEEPS_UP * mean(own.programsPerSecond) }];
  });
  const paced = await Promise.all(
    paces.map((race) =>
      run(
        race,
        loads.map(({ rate }) => rate),
      ),
    ),
  );
  return [...rows, ...rowsOf(of, paces, paced, loads)];
}

function rowsOf(
  { part, ladder, workflow, correlation, misleads }: RaceCase,
  races: readonly SeededRace[],
  cells: readonly (readonly LabCell[])[],
  loads: readonly { readonly load: string; readonly rate: number }[],
): readonly RaceRow[] {
  const systems = races[0]?.systems ?? [];
  return loads.flatMap(({ load, rate }, at) =>
    systems.map(({ name }, index): RaceRow => {
      const own = cells.flatMap((of) => of.filter((cell) => cell.system === index && cell.rate === at));
      const quantile = (percent: number): readonly number[] => own.map((cell) => cell.latencyQuantiles[percent] ?? Number.NaN);
      return {
        ...{ part, ladder: ladder.name, workflow, correlation, misleads, system: name, load, offeredPerSecond: rate },
        programsPerSecond: own.map((cell) => cell.programsPerSecond),
        ...{ p25Seconds: quantile(25), p50Seconds: quantile(50), p95Seconds: quantile(95) },
        quality: own.map(({ quality }) => quality ?? Number.NaN),
        largestQuality: races.map(({ largestQuality }) => largestQuality),
        unserved: own.reduce((sum, { unserved }) => sum + unserved, 0),
        shares: ladder.models.map((model) => mean(own.map((cell) => cell.models.find((each) => each.model === model)?.share ?? 0))),
      };
    }),
  );
}
