import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createPlanner } from "@/server/planning/planner/planner";
import { prepareRealModels } from "@/server/realModels/prepareRealModels";
import { withRealModelCards } from "@/server/realModels/realModelCards";
import type { UserCards } from "@/solver/hardware/cardSchema";
import { readUserCards } from "@/solver/hardware/catalogue";
import { atLeast, atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { once } from "../lib/once";
import { resultsFolder } from "../lib/results";
import type { CascadeFigures } from "./cascadeFigures";
import { rowsOf } from "./cascadeReport";
import { cascadeRuns } from "./cascadeRuns";
import { isEngineThere } from "./connections";
import { endOnSignals } from "./realEngine";
import { Records } from "./records";
import { writeReport } from "./report";
import { paceBefore, samePairs } from "./samePairs";
import { realSettings } from "./settings";
import { type RealBench, SHARES, singleRuns } from "./singleRuns";
import {
  bandShare,
  type ErrorField,
  firstOnly,
  medianError,
  medianHalfWidth,
  missingRuns,
  type Pair,
  pairsOf,
  plansOnly,
  repeatNoise,
} from "./summary";
import { traffics } from "./traffic";

/** Cards of the two models and of one processor core. */
function cards(): UserCards {
  const file = join(process.env.WEIR_ROOT ?? process.cwd(), "bench", "recorded", "cards.json");
  const read = readUserCards(readFileSync(file, "utf8"), file);
  if (!read.ok) throw new Error(read.message);
  return withRealModelCards({ ...read.cards, models: [] });
}

/** All runs that are not recorded yet and that there is time for; then the report of all that are. */
const measured = once(async (): Promise<Records> => {
  endOnSignals();
  const settings = realSettings();
  const records = new Records();
  const began = performance.now();
  const folder = resultsFolder("real");
  const models = join(folder, "models");
  mkdirSync(models, { recursive: true });
  const prepared = await prepareRealModels(models, ["gguf", "hugging-face"]);
  if (!prepared.ok) throw new Error(prepared.message);
  const planner = createPlanner();
  const bench: RealBench = {
    ...{ records, settings, planner, folder, cards: cards(), models: prepared.models },
    timeLeft: (seconds) => performance.now() - began + 1000 * seconds < 60_000 * settings.minutes,
    says: (text) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`),
  };
  const engines = settings.engines.filter((kind) => {
    const there = isEngineThere(kind);
    if (!there.ok) bench.says(`Skipped ${kind}: ${there.message}`);
    return there.ok;
  });
  try {
    for (const kind of settings.parts.includes("single") ? engines : []) await singleRuns(bench, kind, traffics());
    for (const kind of settings.parts.includes("cascade") ? engines : []) await cascadeRuns(bench, kind);
  } finally {
    await planner.close();
    bench.says(`Written to ${writeReport(records)}`);
  }
  return records;
});

/** Runs with predictions of a kind, each once, and all with their repeats; why they are too few for a figure. */
interface Compared {
  readonly all: readonly Pair[];
  readonly pairs: readonly Pair[];
  readonly missing: string | null;
  readonly says: string;
}

/** What a run is predicted by: the plan before it, or the simulation of the requests that were sent. */
type By = "the plan" | "the same requests";

async function compared(by: By): Promise<Compared> {
  const records = await measured();
  const planned = pairsOf(records);
  const all = by === "the plan" ? planned : samePairs(planned, records, traffics(), paceBefore);
  const pairs = firstOnly(all);
  const engines = [...new Set(pairs.map(({ engine }) => engine))].join(" and ");
  const refused = by === "the plan" ? `, ${pairs.length - plansOnly(pairs).length} of them refused by the planner` : "";
  return {
    ...{ all, pairs, missing: missingRuns(pairs, SHARES) },
    says: `${pairs.length} open-loop runs of ${engines} at 20 to 85 % of measured saturation${refused}; predicted by ${by} at the pace before the run; the fit saw closed loops of spread lengths (see real.md)`,
  };
}

/** A figure of the compared runs, which is none where they are too few. */
function figure(
  { name, by, budget }: Pick<Benchmark, "name" | "budget"> & { readonly by: By },
  unit: string,
  of: (runs: Compared) => Omit<Measurement, "unit">,
): Benchmark {
  return {
    name: `real engines, by ${by}: ${name}`,
    budget,
    async run() {
      const runs = await compared(by);
      return { unit, ...(runs.missing === null ? of(runs) : { figure: Number.NaN, detail: runs.missing }) };
    },
  };
}

/** The median error of a figure over all runs. */
const median = (name: string, by: By, field: ErrorField, most: number): Benchmark =>
  figure(
    { name, by, budget: atMost(most, "the simulated engine is unlike the real one, or the fit does not carry over to this load") },
    "% off",
    ({ all, pairs, says }) => {
      const noise = repeatNoise(all, field);
      const beside = noise === null ? "" : `; standard deviation of repeats ${(100 * noise).toFixed(1)} %`;
      return { figure: 100 * medianError(pairs, field), detail: `median of ${says}${beside}` };
    },
  );

/** The largest group's median error of the p95: groups are the shares of saturation. */
const worstGroup = (by: By): Benchmark =>
  figure(
    { name: "p95, worst group", by, budget: atMost(15, "waits near saturation grow otherwise than simulated") },
    "% off",
    ({ pairs, says }) => {
      const each = SHARES.map((share) => {
        const own = pairs.filter((pair) => pair.share === share);
        return { share, error: medianError(own, "p95") };
      });
      const errors = each.map(({ share, error }) => `${Math.round(100 * share)} %: ${(100 * error).toFixed(1)}`).join(", ");
      return { figure: 100 * Math.max(...each.map(({ error }) => error)), detail: `medians by load of ${says}; ${errors}` };
    },
  );

const inBand = (name: string, by: By, budget: Benchmark["budget"]): Benchmark =>
  figure({ name, by, budget }, "% of runs", ({ pairs, says }) => ({ figure: 100 * bandShare(pairs), detail: `bands of ${says}` }));

const width = (by: By): Benchmark =>
  figure(
    { name: "half width of the p95 band", by, budget: atMost(25, "bands are widened instead of errors made smaller") },
    "% of the p95",
    ({ pairs, says }) => ({
      ...{ figure: 100 * medianHalfWidth(pairs), detail: `median of ${says}` },
    }),
  );

const by = (own: By): readonly Benchmark[] => [
  median("mean end to end", own, "mean", 10),
  median("time per output token", own, "tpot", 10),
  median("time to first token", own, "ttft", 15),
  worstGroup(own),
  inBand("measured p95 in the 90 % band", own, atLeast(80, "bands are too narrow for what the prediction does not know")),
  inBand("measured p95 in the 90 % band, not too wide", own, atMost(97, "bands are so wide that hardly a run could lie outside")),
  width(own),
];

/** The largest difference between predicted and measured points of the cascade, over all rates that the planner accepts. */
const cascade = (name: string, most: number, of: (figures: CascadeFigures) => number | null): Benchmark => ({
  name: `real engines, cascade: ${name}`,
  budget: atMost(most, "answers or the judge's scores under load are unlike those that were profiled"),
  async run() {
    const each = rowsOf(await measured()).flatMap(({ what, engine, rate, predicted, measured }) => {
      const [own, other] = [of(predicted), of(measured)];
      return what !== "cascade" || own === null || other === null ? [] : [{ engine, rate, apart: Math.abs(own - other) }];
    });
    const says = each.map(({ engine, rate, apart }) => `${engine} at ${rate}/s: ${apart.toFixed(1)}`).join(", ");
    const figure = each.length === 0 ? Number.NaN : Math.max(...each.map(({ apart }) => apart));
    return { figure, unit: "points", detail: `largest of ${says}` };
  },
});

export const realBenchmarks: readonly Benchmark[] = [
  ...by("the plan"),
  ...by("the same requests"),
  cascade("quality predicted and measured", 2, ({ quality }) => quality),
  cascade("share sent on, predicted and measured", 3, ({ escalated }) => (escalated === null ? null : 100 * escalated)),
];
