import { TYPICAL_PROGRAMS } from "@/server/lab/labCells";
import { enginesByModel } from "@/server/lab/labEngines";
import { planningPrograms, tableOf } from "@/server/lab/labPrograms";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { catalogueOf } from "@/solver/hardware/catalogue";
import { capacityOf, engineFigures, meanTokens } from "@/solver/lab/engineFigures";
import { kairosSystems } from "@/solver/lab/kairosSystems";
import type { LabSpec, LabSystem } from "@/solver/lab/labSpec";
import type { LabMetric } from "@/solver/lab/overSeeds";
import type { Workload } from "@/solver/workload/workload";
import { bySeed, runCells } from "../lib/runCells";
import { type Application, ownCards, type Setting } from "./apps";

/** Shares of queueing in a program's time under Parrot: they define the loads, as in the source. */
const QUEUEING = [0.2, 0.5, 0.8] as const;

const SEEDS = [1, 2, 3];

/** No publication gives the similarity of a program's stages. */
const CORRELATION = 0.5;

/**
 * Minimum number of programs of a run, and of times that its requests fill all engines' batches: in shorter runs queueing never reaches
 * four fifths of the time, however fast programs arrive.
 */
const LEAST_PROGRAMS = 2000;
const BATCHES_SERVED = 70;

/** More releases than a run has: nothing ages, as in the source. */
const NEVER = 1_000_000;

const userCards = ownCards();
const hardware = { catalogue: catalogueOf(userCards), profile: vllmProfile };

/** One application on one kind of engines. */
export interface RaceCase {
  readonly application: Application;
  readonly setting: Setting;
  readonly workload: Workload;
}

/** A figure of one system at one load, seed by seed. */
export interface RaceRow {
  readonly setting: string;
  readonly application: string;
  /** Share of queueing that defines the load. */
  readonly queueing: number;
  readonly programsPerSecond: number;
  /** Programs a second beyond which queues grow as long as a run lasts, whatever the policy. */
  readonly saturationPerSecond: number;
  readonly programs: number;
  readonly system: string;
  readonly queueShare: readonly number[];
  readonly meanSecondsPerToken: readonly number[];
  readonly p90SecondsPerToken: readonly number[];
  readonly p95SecondsPerToken: readonly number[];
  readonly p99SecondsPerToken: readonly number[];
  readonly preemptedShare: readonly number[];
}

function systemsFor({ setting: { replicas } }: RaceCase): LabSystem[] {
  const { model } = replicas;
  return kairosSystems((order, place) => ({ kind: "fixed", model, order, place }), NEVER).map(({ about: _, ...system }) => system);
}

/** The description without rates and systems, and about the rate at which the engines saturate. */
function describe({ application, setting: { replicas }, workload }: RaceCase) {
  const mix = application.workflows.map((workflow) => ({ workflow, share: 1 }));
  const engines = enginesByModel([replicas], hardware);
  const sample = planningPrograms({ mix, correlation: CORRELATION }, workload, tableOf(workload, [replicas.model]), TYPICAL_PROGRAMS);
  const [own] = engines;
  if (own === undefined) throw new Error(`There is no engine of ${replicas.model}`);
  const { maxBatchSize } = engineFigures(own, meanTokens(sample, 0));
  const requestsAProgram = sample.program.length / TYPICAL_PROGRAMS;
  const programs = Math.ceil((BATCHES_SERVED * replicas.count * maxBatchSize) / requestsAProgram);
  const spec = {
    ...{ workloadId: "bench", mix, correlation: CORRELATION, programs: Math.max(LEAST_PROGRAMS, programs), arrivals: "poisson" },
    ...{ replicas: [replicas], usdPerGpuHour: 1, queue: "centre", aging: null, telemetrySeconds: 1 },
    overhead: { routeSeconds: 0.005, predictSeconds: 0.005, decideSeconds: 0.001 },
  } as const satisfies Partial<LabSpec>;
  return { spec, capacity: capacityOf(engines, sample) };
}

/** Runs systems at rates as the studio's lab does; the cells by seed. */
const run = (of: RaceCase, spec: ReturnType<typeof describe>["spec"], raced: Pick<LabSpec, "rates" | "systems" | "seeds">) =>
  runCells(
    {
      ...{ spec: { ...spec, ...raced, replicas: [...spec.replicas], mix: [...spec.mix] } },
      ...{ workload: of.workload, userCards, engineProfile: vllmProfile, artefacts: {}, texts: null },
    },
    2,
  );

/** Ranges of rates, as shares of the saturation rate, and their resolution at first and then around each share. */
const COARSE = { from: 0.3, to: 8, rates: 12 };
const FINE = 3;

/**
 * Rates at which queueing has the target shares of a program's time under a system, found under one seed on a grid that is refined once
 * around each.
 */
async function ratesAt(of: RaceCase, { spec, capacity }: ReturnType<typeof describe>, system: LabSystem): Promise<readonly number[]> {
  const step = (COARSE.to / COARSE.from) ** (1 / (COARSE.rates - 1));
  const known: { rate: number; share: number }[] = [];
  const look = async (rates: number[]): Promise<void> => {
    const cells = await run(of, spec, { rates, systems: [system], seeds: SEEDS.slice(0, 1) });
    for (const [at, rate] of rates.entries())
      known.push({ rate, share: bySeed({ cells }, { system: 0, rate: at }, "queueShare")[0] ?? Number.NaN });
    known.sort((a, b) => a.rate - b.rate);
  };
  const around = (wanted: number): readonly [{ rate: number; share: number }, { rate: number; share: number }] => {
    const at = known.findIndex(({ share }) => share >= wanted);
    const [below, above] = [known[at - 1], known[at]];
    if (below === undefined || above === undefined)
      throw new Error(`Queueing takes ${wanted} of the time at no rate that was looked at: ${JSON.stringify(known)}`);
    return [below, above];
  };
  await look(Array.from({ length: COARSE.rates }, (_, at) => COARSE.from * capacity * step ** at));
  const finer = QUEUEING.flatMap((wanted) => {
    const [below, above] = around(wanted);
    return Array.from({ length: FINE }, (_, at) => below.rate * (above.rate / below.rate) ** ((at + 1) / (FINE + 1)));
  });
  await look([...new Set(finer)]);
  return QUEUEING.map((wanted) => {
    const [below, above] = around(wanted);
    const part = (wanted - below.share) / (above.share - below.share);
    return below.rate * (above.rate / below.rate) ** part;
  });
}

/** All systems of the race at the three loads. */
export async function raceOf(of: RaceCase): Promise<readonly RaceRow[]> {
  const described = describe(of);
  const systems = systemsFor(of);
  const [parrot] = systems;
  if (parrot === undefined) throw new Error("There is no system to set loads by");
  const rates = [...(await ratesAt(of, described, parrot))];
  const cells = await run(of, described.spec, { rates, systems, seeds: SEEDS });
  return systems.flatMap(({ name }, system) =>
    QUEUEING.map((queueing, rate): RaceRow => {
      const figure = (metric: LabMetric): readonly number[] => bySeed({ cells }, { system, rate }, metric);
      return {
        ...{ setting: of.setting.name, application: of.application.name, queueing, programsPerSecond: rates[rate] ?? Number.NaN },
        ...{ saturationPerSecond: described.capacity, programs: described.spec.programs, system: name, queueShare: figure("queueShare") },
        ...{ meanSecondsPerToken: figure("meanSecondsPerToken"), p90SecondsPerToken: figure("p90SecondsPerToken") },
        ...{ p95SecondsPerToken: figure("p95SecondsPerToken"), p99SecondsPerToken: figure("p99SecondsPerToken") },
        preemptedShare: figure("preemptedShare"),
      };
    }),
  );
}
