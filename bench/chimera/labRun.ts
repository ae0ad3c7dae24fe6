import { TYPICAL_PROGRAMS } from "@/server/lab/labCells";
import { enginesByModel } from "@/server/lab/labEngines";
import { planningPrograms, tableOf } from "@/server/lab/labPrograms";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { capacityOf, type EngineFigures, engineFigures, meanTokens } from "@/solver/lab/engineFigures";
import type { LabCell } from "@/solver/lab/labCell";
import type { LabReplicas, LabSpec } from "@/solver/lab/labSpec";
import { mean } from "@/solver/numeric/quantile";
import { splitPrompts } from "@/solver/workload/split";
import type { Workload } from "@/solver/workload/workload";
import { BATCH, type Ladder, workflowsOf } from "../lib/ladders";
import { runCells } from "../lib/runCells";

/** Shares of the rate at which all engines saturate. */
export const LOADS = [0.8, 0.95, 1.1] as const;

/** Splits of the prompts and draws of the programs over which figures are averaged. */
export const SEEDS = [1, 2, 3] as const;

/** Number of times all engines' batches are filled in a run: at saturation arrivals last as many times a program's time without waiting. */
const BATCHES_SERVED = 40;

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
  readonly replicas: readonly LabReplicas[];
  readonly correlation: number;
  readonly loads: readonly number[];
  readonly change?: Partial<Pick<LabSpec, "queue" | "aging">>;
  /** Length of a run relative to others. */
  readonly times?: number;
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

/** The results: programs a second by load, and the cells by seed, whose seeds are indices into `SEEDS`. */
export interface LabRan {
  readonly rates: readonly number[];
  readonly cells: readonly LabCell[];
}

/**
 * Runs systems as the studio's lab does, one thread per seed. Each seed splits the prompts again into those that predictors learn from and
 * those that are served, so that intervals over seeds include the split and the training too; systems are made for each split, with the
 * same number for all.
 */
export async function runLab(of: LabOf, capacity: number, systemsOf: (workload: Workload) => LabSpec["systems"]): Promise<LabRan> {
  const rates = of.loads.map((load) => load * capacity);
  const cells: LabCell[] = [];
  const one = async (seed: number, index: number): Promise<void> => {
    const workload = { ...of.workload, seed };
    const spec: LabSpec = {
      ...common,
      ...of.change,
      mix: mixOf(of.ladder),
      correlation: of.correlation,
      replicas: [...of.replicas],
      programs: BATCHES_SERVED * BATCH * of.replicas.length * (of.times ?? 1),
      ...{ rates, seeds: [seed], systems: systemsOf(workload) },
    };
    const task = {
      spec,
      workload,
      userCards: noUserCards,
      engineProfile: vllmProfile,
      artefacts: {},
      texts: { kind: "given", texts: of.texts },
    } as const;
    cells.push(...(await runCells(task)).map((cell) => ({ ...cell, seed: index })));
  };
  await Promise.all(SEEDS.map(one));
  return { rates, cells: cells.sort((a, b) => a.seed - b.seed) };
}

/** Duration of the run's arrivals as a multiple of a program's mean time: the minimum over seeds. */
export function spanOf(ran: LabRan, at: Pick<LabCell, "system" | "rate">): number {
  const own = ran.cells.filter((cell) => cell.system === at.system && cell.rate === at.rate);
  return Math.min(...own.map(({ programs, meanSeconds }) => programs / (ran.rates[at.rate] ?? Number.NaN) / meanSeconds));
}
