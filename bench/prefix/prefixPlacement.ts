import { seedEstimate } from "@/solver/lab/overSeeds";
import type { AgentRun } from "@/solver/workflow/measuredPrograms";
import { agentRuns, agentRunsPresent } from "../lib/agentRuns";
import { atLeast, atMost, type Benchmark, type Measurement, overSeeds } from "../lib/benchmark";
import { differenceOf, ratioOf, type SeedPair } from "../lib/bySeed";
import { once } from "../lib/once";
import { writeRows, writeTables } from "../lib/results";
import { estimate, ratio, signed, table } from "../lib/tables";
import { type PlacementFigures, placed, places, programsOf, RATES, SEEDS } from "./placementRun";

/** What one place gives at one load, seed by seed. */
interface PlacementRow {
  readonly shared: "instructions" | "conversations";
  readonly rate: number;
  readonly place: string;
  readonly figures: readonly PlacementFigures[];
}

const measured = once(async (): Promise<readonly PlacementRow[]> => {
  const runs = await agentRuns();
  const rows = (["conversations", "instructions"] as const).flatMap((shared) => rowsOf(runs, shared));
  writeRows("prefix-placement", rows);
  writeTables("prefix-placement", [tableOf(rows)]);
  return rows;
});

function rowsOf(runs: readonly AgentRun[], shared: PlacementRow["shared"]): readonly PlacementRow[] {
  const samples = SEEDS.map((seed) => programsOf(runs, { conversations: shared === "conversations" }, seed));
  return RATES.flatMap((rate) =>
    places.map(([place, document]) => {
      const figures = samples.map((sample) => placed(sample, rate, document));
      process.stderr.write(`prefix placement, ${shared}, ${rate} programs/s, ${place}\n`);
      return { shared, rate, place, figures };
    }),
  );
}

const tableOf = (rows: readonly PlacementRow[]): string =>
  table(
    ["prompts share", "programs/s", "place", "found in caches, %", "TTFT p50, s", "TTFT p95, s"],
    rows.map(({ shared, rate, place, figures }) => [
      shared,
      String(rate),
      place,
      ...(["hitPercent", "ttftP50", "ttftP95"] as const).map((name) => estimate(seedEstimate(figures.map((one) => one[name])))),
    ]),
  );

/** A figure of placing by prefix beside another place's, over the loads. */
async function pairsWith(other: string, name: keyof PlacementFigures): Promise<readonly SeedPair[]> {
  const rows = (await measured()).filter(({ shared }) => shared === "conversations");
  return RATES.map((rate) => {
    const of = (place: string): readonly number[] =>
      rows.find((row) => row.rate === rate && row.place === place)?.figures.map((one) => one[name]) ?? [];
    return { own: of("prefix"), reference: of(other) };
  });
}

const INPUT = "ChatDev's recorded runs with modelled conversations, four engines, 0.5, 1 and 1.5 programs/s";

async function hitsOver(other: string): Promise<Measurement> {
  const points = differenceOf(await pairsWith(other, "hitPercent"));
  return {
    ...overSeeds(points),
    unit: "points",
    detail: `tokens found in engines' caches, ${signed(points)} points over ${other}; ${INPUT}`,
  };
}

async function ttftOver(other: string, name: "ttftP50" | "ttftP95"): Promise<Measurement> {
  const over = ratioOf(await pairsWith(other, name));
  const quantile = name === "ttftP50" ? "p50" : "p95";
  return { ...overSeeds(over), unit: "x", detail: `TTFT ${quantile} relative to ${other}'s, geometric mean ${ratio(over)}; ${INPUT}` };
}

const benchmarks: readonly Benchmark[] = [
  {
    name: "prefix placement: hits over least load",
    budget: atLeast(1, "the place stops to follow prefixes, or its index forgets what engines still hold"),
    run: () => hitsOver("least load"),
  },
  {
    name: "prefix placement: TTFT p50 over least load's",
    budget: atMost(1, "hits stop to spare prefill, or are paid for with waiting"),
    run: () => ttftOver("least load", "ttftP50"),
  },
  {
    name: "prefix placement: TTFT p95 over least load's",
    budget: atMost(1.05, "prompts are sent to engines that are too full for them"),
    run: () => ttftOver("least load", "ttftP95"),
  },
  { name: "prefix placement: hits over round-robin", budget: null, run: () => hitsOver("round-robin") },
  { name: "prefix placement: TTFT p95 over round-robin's", budget: null, run: () => ttftOver("round-robin", "ttftP95") },
  { name: "prefix placement: hits over session affinity", budget: null, run: () => hitsOver("session affinity") },
  { name: "prefix placement: TTFT p95 over session affinity's", budget: null, run: () => ttftOver("session affinity", "ttftP95") },
];

export const prefixPlacementBenchmarks: readonly Benchmark[] = agentRunsPresent() ? benchmarks : [];
