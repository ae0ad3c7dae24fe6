import { TYPICAL_PROGRAMS } from "@/server/lab/labCells";
import { enginesByModel } from "@/server/lab/labEngines";
import { planningPrograms, tableOf } from "@/server/lab/labPrograms";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { capacityOf, type EngineFigures, engineFigures, meanTokens } from "@/solver/lab/engineFigures";
import type { LabCell } from "@/solver/lab/labCell";
import type { LabReplicas, LabSpec } from "@/solver/lab/labSpec";
import { mean } from "@/solver/numeric/quantile";
import type { Embeddings } from "@/solver/prediction/confidence";
import { splitPrompts } from "@/solver/workload/split";
import type { Workload } from "@/solver/workload/workload";
import { type Ladder, sequencesOf, workflowsOf } from "../lib/ladders";
import { runCells } from "../lib/runCells";
import { BATCHES_SERVED, MOST_PROGRAMS, SEEDS, SPLITS_AT_ONCE } from "./cases";

/** Default settings of all ablations. */
const common = {
  workloadId: "bench",
  arrivals: "poisson",
  usdPerGpuHour: 1,
  // As the lab suggests, and as in the source: engines queue by the policy's key, and let nothing wait for ever.
  queue: "engines",
  aging: { starvedSteps: 1000, quantumSteps: 100 },
  telemetrySeconds: 0,
  // Approximate delay of the gateway's predictors and decisions; the source's own take 131 to 646 ms in total.
  overhead: { routeSeconds: 0.005, predictSeconds: 0.005, decideSeconds: 0.001 },
} as const satisfies Partial<LabSpec>;

/** A description without the systems; rates are shares of the rate at which the engines saturate. */
export interface LabOf {
  readonly ladder: Ladder;
  readonly workload: Workload;
  readonly texts: readonly (string | null)[];
  /** Of the prompts, for confidence heads; left out: these read words. */
  readonly embeddings?: Embeddings | undefined;
  readonly replicas: readonly LabReplicas[];
  readonly correlation: number;
  readonly loads: readonly number[];
  readonly change?: Partial<Pick<LabSpec, "queue" | "aging">>;
  /** Length of a run relative to others. */
  readonly times?: number;
  /** Number of times the batches are filled; left out: as the systems are compared. */
  readonly batches?: number;
  /** Seeds of the run; left out: all. */
  readonly seeds?: readonly number[];
}

/** Engines of a run and their rates. */
export interface LabEngineFigures {
  /** Programs a second. */
  readonly capacity: number;
  readonly models: readonly (EngineFigures & { readonly model: string; readonly quality: number })[];
}

const mixOf = ({ task }: Ladder): LabSpec["mix"] => workflowsOf[task].map((workflow) => ({ workflow, share: 1 }));

/** As the studio computes them for a suggestion: from the planning prompts. */
export function figuresOf({ ladder, workload, replicas, correlation }: LabOf): LabEngineFigures {
  const engines = enginesByModel(replicas, { catalogue: catalogueOf(noUserCards), profile: vllmProfile });
  const table = tableOf(
    workload,
    replicas.map(({ model }) => model),
  );
  const { planning } = splitPrompts(workload.outcomes.promptIds.length, workload.seed);
  const programs = planningPrograms({ mix: mixOf(ladder), correlation }, workload, table, TYPICAL_PROGRAMS);
  return {
    capacity: capacityOf(engines, programs),
    models: engines.map((of) => {
      const index = programs.models.indexOf(of.model);
      const label = table.models[index]?.label ?? new Float64Array();
      const quality = mean(planning.map((row) => label[row] ?? Number.NaN)) / 100;
      return { ...engineFigures(of, meanTokens(programs, index)), model: of.model, quality };
    }),
  };
}

/** The results: programs a second by load, and the cells by seed, whose seeds are indices into those of the run. */
export interface LabRan {
  readonly rates: readonly number[];
  readonly cells: readonly LabCell[];
}

/** The description of a run, without rates, seeds and systems. */
export const labSpecOf = (of: LabOf): Omit<LabSpec, "rates" | "seeds" | "systems"> => ({
  ...common,
  ...of.change,
  mix: mixOf(of.ladder),
  correlation: of.correlation,
  replicas: [...of.replicas],
  programs: Math.min(MOST_PROGRAMS, (of.batches ?? BATCHES_SERVED) * sequencesOf(of.replicas)) * (of.times ?? 1),
});

/**
 * Runs systems as the studio's lab does, a few seeds at once, each on a thread of its own. Each seed splits the prompts again into those
 * that predictors learn from and those that are served, so that intervals over seeds include the split and the training too; systems are
 * made for each split, with the same number for all.
 */
export async function runLab(of: LabOf, capacity: number, systemsOf: (workload: Workload) => LabSpec["systems"]): Promise<LabRan> {
  const rates = of.loads.map((load) => load * capacity);
  const cells: LabCell[] = [];
  const one = async (seed: number, index: number): Promise<void> => {
    const workload = { ...of.workload, seed };
    const spec: LabSpec = { ...labSpecOf(of), rates, seeds: [seed], systems: systemsOf(workload) };
    const task = {
      spec,
      workload,
      userCards: noUserCards,
      engineProfile: vllmProfile,
      artefacts: {},
      texts: { kind: "given", texts: of.texts },
      ...(of.embeddings === undefined ? {} : { embeddings: of.embeddings }),
    } as const;
    cells.push(...(await runCells(task)).map((cell) => ({ ...cell, seed: index })));
  };
  const seeds = [...(of.seeds ?? SEEDS).entries()];
  const next = async (): Promise<void> => {
    for (let taken = seeds.shift(); taken !== undefined; taken = seeds.shift()) await one(taken[1], taken[0]);
  };
  await Promise.all(Array.from({ length: SPLITS_AT_ONCE }, next));
  return { rates, cells: cells.sort((a, b) => a.seed - b.seed) };
}

/** Duration of the run's arrivals as a multiple of a program's mean time: the minimum over seeds. */
export function spanOf(ran: LabRan, at: Pick<LabCell, "system" | "rate">): number {
  const own = ran.cells.filter((cell) => cell.system === at.system && cell.rate === at.rate);
  return Math.min(...own.map(({ programs, meanSeconds }) => programs / (ran.rates[at.rate] ?? Number.NaN) / meanSeconds));
}
