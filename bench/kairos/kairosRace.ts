import { mean } from "@/solver/numeric/quantile";
import { type Benchmark, type Measurement, overSeeds } from "../lib/benchmark";
import { ratioOf } from "../lib/bySeed";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { writeRows, writeTables } from "../lib/results";
import { ratio } from "../lib/tables";
import { raceWorkload, settings } from "./apps";
import { kairosBurstBenchmarks } from "./kairosBursts";
import { type RaceRow, raceOf } from "./raceRun";
import { LATENCIES, type LatencyFigure, pairsOf, raceTables } from "./raceTables";

/** The whole race; all of it is recorded. */
const race = once(async (): Promise<readonly RaceRow[]> => {
  const workload = await raceWorkload();
  const rows: RaceRow[] = [];
  for (const setting of settings) {
    for (const application of setting.applications) {
      rows.push(...(await raceOf({ application, setting, workload })));
      process.stderr.write(`kairos race, ${setting.name}, ${application.name}\n`);
    }
  }
  writeRows("kairos-race", rows);
  writeTables("kairos-race", raceTables(rows));
  return rows;
});

const coLocated = (rows: readonly RaceRow[], setting: string): readonly RaceRow[] =>
  rows.filter((row) => row.application === "co-located" && row.setting === setting);

/** Mean latency per token of one system relative to another's, co-located, over the three loads. */
async function latencyOver(setting: string, names: readonly [own: string, reference: string], source: string): Promise<Measurement> {
  const pairs = pairsOf(coLocated(await race(), setting), names, "meanSecondsPerToken");
  const of = ratioOf(pairs);
  const byLoad = pairs.map((pair) => ratio(ratioOf([pair]))).join("; ");
  const detail = `program-level token latency, mean, co-located, ${setting}: geometric mean ${ratio(of)} over queueing of 20, 50 and 80 %, by load ${byLoad}; the source ${source}`;
  return { ...overSeeds(of), unit: "x", detail };
}

async function preempted(setting: string, system = "Kairos"): Promise<Measurement> {
  const rows = coLocated(await race(), setting);
  const of = (system: string): readonly number[] =>
    rows.filter((row) => row.system === system).map(({ preemptedShare }) => 100 * mean(preemptedShare));
  const texts = ["Parrot", "Kairos, no packing", "Kairos"].map(
    (name) =>
      `${name} ${of(name)
        .map((share) => share.toFixed(1))
        .join(", ")} %`,
  );
  const detail = `of requests, co-located, ${setting}, at queueing of 20, 50 and 80 %: ${texts.join("; ")}; the source 18.4 % under round-robin`;
  return { figure: Math.max(...of(system)), unit: "%", detail };
}

const PARROT = { "8B": "0.27 to 0.55", "8B on 24 GB": "0.27 to 0.55", "13B": "0.43 to 0.58" } as const;
const AYO = { "8B": "0.62 to 0.94", "8B on 24 GB": "0.62 to 0.94", "13B": "0.75 to 0.78" } as const;

const figures: readonly Benchmark[] = settings.flatMap(({ name }): Benchmark[] => [
  { name: `kairos: latency over Parrot's, ${name}`, budget: null, run: () => latencyOver(name, ["Kairos", "Parrot"], PARROT[name]) },
  { name: `kairos: latency over Ayo's, ${name}`, budget: null, run: () => latencyOver(name, ["Kairos", "Ayo"], AYO[name]) },
  {
    name: `kairos: latency without priority, ${name}`,
    budget: null,
    run: () => latencyOver(name, ["Kairos, no priority", "Kairos"], "1.63 at 50 % on 8B"),
  },
  {
    name: `kairos: latency without packing, ${name}`,
    budget: null,
    run: () => latencyOver(name, ["Kairos, no packing", "Kairos"], "1.12 at 50 % on 8B"),
  },
  { name: `kairos: requests preempted, ${name}`, budget: null, run: () => preempted(name) },
]);

/** A latency per token of Kairos over another system's, on engines of one setting, over cases and loads. */
async function tokenLatencyOver(
  reference: string,
  of: { readonly setting: string; readonly figure: LatencyFigure; readonly applications: readonly string[] },
): Promise<Measurement> {
  const rows = (await race()).filter((row) => row.setting === of.setting && of.applications.includes(row.application));
  const ratioOver = ratioOf(pairsOf(rows, ["Kairos", reference], of.figure));
  return {
    ...overSeeds(ratioOver),
    unit: "x",
    detail: `${of.applications.join(", ")}, ${of.setting}: geometric mean ${ratio(ratioOver)} over queueing of 20, 50 and 80 %`,
  };
}

const SINGLE = ["QA", "report", "code"];

const latencyFigures: readonly Benchmark[] = ["Parrot", "Ayo"].flatMap((reference) =>
  LATENCIES.flatMap(([name, figure]): Benchmark[] => [
    ...(["8B", "13B"] as const).map((setting) => ({
      name: `kairos: ${name} latency over ${reference}'s, co-located, ${setting}`,
      budget: null,
      run: () => tokenLatencyOver(reference, { setting, figure, applications: ["co-located"] }),
    })),
    {
      name: `kairos: ${name} latency over ${reference}'s, single applications, 8B`,
      budget: null,
      run: () => tokenLatencyOver(reference, { setting: "8B", figure, applications: SINGLE }),
    },
  ]),
);

/** What the source has a figure of, of the same race; `weir reproduce` shows it. */
export const kairosSourceFigures: readonly Benchmark[] = dataPresent()
  ? [
      ...latencyFigures,
      { name: "kairos: requests preempted under Parrot, 8B on 24 GB", budget: null, run: () => preempted("8B on 24 GB", "Parrot") },
    ]
  : [];

/** Kairos against the systems that its source compares it with, on programs made of real answers; none where the data is missing. */
export const kairosRaceBenchmarks: readonly Benchmark[] = [...(dataPresent() ? figures : []), ...kairosBurstBenchmarks];
