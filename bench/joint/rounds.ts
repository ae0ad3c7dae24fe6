import { justInTimeOver, perWorkflow } from "@/server/lab/aragogRace";
import { TYPICAL_PROGRAMS } from "@/server/lab/labCells";
import { drawnDocuments } from "@/server/lab/labConfigurations";
import { enginesByModel } from "@/server/lab/labEngines";
import { heldOutPrograms, planningPrograms, tableOf } from "@/server/lab/labPrograms";
import { noUserCards } from "@/solver/hardware/catalogue";
import { BEAM_WIDTH } from "@/solver/lab/aragogSystems";
import { capacityOf } from "@/solver/lab/engineFigures";
import type { LabCell } from "@/solver/lab/labCell";
import type { LabSpec, LabSystem } from "@/solver/lab/labSpec";
import { type LabMetric, seedEstimate } from "@/solver/lab/overSeeds";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { enginesOf, qwenLadder, raceAnswers } from "../aragog/raceLadders";
import { hardware } from "../aragog/seededRace";
import { type Benchmark, type Measurement, overSeeds } from "../lib/benchmark";
import { ratioOf } from "../lib/bySeed";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { writeRows, writeTables } from "../lib/results";
import { bySeed, runCells } from "../lib/runCells";
import { estimate, table } from "../lib/tables";
import cases from "./roundCases.json" with { type: "json" };

/** The same programs and engines under each combination of Aragog's choice, Kairos' order and Kairos' place. */
const CHOICES = ["one configuration a workflow", "rounds"] as const;
const QUEUES = ["as they came", "by workflow", "by workflow, over time slots"] as const;

const nameOf = (choice: (typeof CHOICES)[number], queue: (typeof QUEUES)[number]): string => `${choice}, ${queue}`;
const ARAGOG = nameOf("rounds", "as they came");
const KAIROS = nameOf("one configuration a workflow", "by workflow, over time slots");
const JOINED = nameOf("rounds", "by workflow, over time slots");

const METRICS: readonly LabMetric[] = ["meanSeconds", "p95Seconds", "meanSecondsPerToken", "quality", "preemptedShare"];

interface JointRow {
  readonly system: string;
  readonly load: number;
  /** Seed by seed. */
  readonly figures: { readonly [metric in LabMetric]?: readonly number[] };
}

/** All cells; each load's rate is a share of what all engines carry together. */
const race = once(async (): Promise<readonly JointRow[]> => {
  const { workload, texts } = await raceAnswers(qwenLadder);
  const replicas = [...enginesOf(qwenLadder, 8)];
  const engines = enginesByModel(replicas, hardware);
  const outcomes = tableOf(workload, qwenLadder.models);
  const mix = cases.workflows.map((workflow) => ({ workflow, share: 1 / cases.workflows.length }));
  const described = { mix, correlation: cases.correlation, misleads: cases.misleads };
  const sample = planningPrograms(described, workload, outcomes, TYPICAL_PROGRAMS);
  const policy = justInTimeOver({ engines, sample, workflows: drawnDocuments(mix), catalogue: hardware.catalogue });
  const rates = cases.loads.map((load) => Number((load * capacityOf(engines, sample)).toPrecision(3)));
  const base: Omit<LabSpec, "systems"> = {
    ...{ ...described, workloadId: "bench", programs: cases.programs, arrivals: "poisson", replicas, usdPerGpuHour: 1, rates },
    ...{ seeds: cases.seeds, queue: "centre", aging: null, telemetrySeconds: 1 },
    overhead: { routeSeconds: 0.01, predictSeconds: 0, decideSeconds: 0.001 },
  };
  // What one configuration a workflow is worth is known of exactly the programs of the first seed, as in Aragog's evaluation.
  const served = heldOutPrograms({ ...base, systems: [] }, workload, outcomes, cases.seeds[0] ?? 1);
  const systems = systemsOf(policy, perWorkflow(policy, served));
  const cells = await runCells({
    ...{ spec: { ...base, systems: [...systems] }, workload, userCards: noUserCards },
    ...{ engineProfile: hardware.profile, artefacts: {}, texts: { kind: "given", texts } },
  });
  const rows = systems.flatMap(({ name }, system) =>
    cases.loads.map((load, rate) => rowOf({ system: name, load }, cells, { system, rate })),
  );
  writeRows("joint-rounds", rows);
  writeTables("joint-rounds", [figuresTable(rows)]);
  return rows;
});

function systemsOf(policy: JustInTimePolicy, configurations: Record<string, Record<string, string>>): readonly LabSystem[] {
  const { agingThreshold } = cases;
  return CHOICES.flatMap((choice) =>
    QUEUES.map((queue): LabSystem => {
      const byWorkflow = queue.startsWith("by workflow");
      const overSlots = queue.endsWith("time slots");
      return {
        ...{ name: nameOf(choice, queue), lengths: "none", confidence: "none" },
        ...(choice === "rounds" && { configurations: "oracle" }),
        policy: {
          ...policy,
          selection: choice === "rounds" ? { kind: "beam", width: BEAM_WIDTH } : { kind: "fixed", configurations },
          order: byWorkflow ? { kind: "workflow", agingThreshold } : { kind: "fcfs" },
          place: { kind: overSlots ? "time-slots" : "least-load" },
        },
      };
    }),
  );
}

const rowOf = (
  { system, load }: Pick<JointRow, "system" | "load">,
  cells: readonly LabCell[],
  at: { readonly system: number; readonly rate: number },
): JointRow => ({ system, load, figures: Object.fromEntries(METRICS.map((metric) => [metric, bySeed({ cells }, at, metric)])) });

const figuresTable = (rows: readonly JointRow[]): string =>
  table(
    ["load", "system", "mean, s", "p95, s", "mean s a token", "quality", "preempted"],
    rows
      .toSorted((a, b) => a.load - b.load)
      .map(({ load, system, figures }) => [`${load}`, system, ...METRICS.map((metric) => estimate(seedEstimate(figures[metric] ?? [])))]),
  );

/** Mean latency of one system over another's, over all loads and seeds. */
async function meanOver(own: string, other: string): Promise<Measurement> {
  const rows = await race();
  const values = (system: string, load: number): readonly number[] =>
    rows.find((row) => row.system === system && row.load === load)?.figures.meanSeconds ?? [];
  const ratios = cases.loads.map((load) => ratioOf([{ own: values(own, load), reference: values(other, load) }]));
  const detail = `mean latency of programs, ${own} over ${other}, at ${cases.loads.map((load, at) => `${load}: ${(ratios[at]?.value ?? Number.NaN).toFixed(3)}`).join(", ")} of what all engines carry`;
  return {
    ...overSeeds(ratioOf(cases.loads.map((load) => ({ own: values(own, load), reference: values(other, load) })))),
    unit: "x",
    detail,
  };
}

/** Aragog's choice of models with Kairos' order and place in one policy, against each alone. */
export const jointRoundsBenchmarks: readonly Benchmark[] = dataPresent()
  ? [
      { name: "joint rounds: mean latency over Aragog's", budget: null, run: () => meanOver(JOINED, ARAGOG) },
      { name: "joint rounds: mean latency over Kairos'", budget: null, run: () => meanOver(JOINED, KAIROS) },
    ]
  : [];
