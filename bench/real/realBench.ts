import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createPlanner } from "@/server/planning/planner/planner";
import { prepareRealModels } from "@/server/realModels/prepareRealModels";
import { withRealModelCards } from "@/server/realModels/realModelCards";
import type { UserCards } from "@/solver/hardware/cardSchema";
import { readUserCards } from "@/solver/hardware/catalogue";
import type { Benchmark, Measurement } from "../lib/benchmark";
import { once } from "../lib/once";
import { resultsFolder } from "../lib/results";
import { cascadeRuns } from "./cascadeRuns";
import { isEngineThere } from "./connections";
import { endOnSignals } from "./realEngine";
import { Records } from "./records";
import { writeReport } from "./report";
import { realSettings } from "./settings";
import { type RealBench, SHARES, singleRuns } from "./singleRuns";
import {
  bandShare,
  type ErrorField,
  firstOnly,
  medianError,
  medianHalfWidth,
  missingRuns,
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

/** Compared runs, each once, and all with their repeats; why they are too few for a figure. */
async function compared() {
  const all = pairsOf(await measured());
  const pairs = firstOnly(all);
  const missing = missingRuns(pairs, SHARES);
  const refused = pairs.length - plansOnly(pairs).length;
  const engines = [...new Set(pairs.map(({ engine }) => engine))].join(" and ");
  const says = `${pairs.length} open-loop runs of ${engines} at 20 to 85 % of measured saturation, ${refused} of them refused by the planner; the fit saw closed loops of fixed lengths (see real.md)`;
  return { all, pairs, missing, says };
}

type Compared = Awaited<ReturnType<typeof compared>>;

/** A figure of the compared runs, which is none where they are too few. */
function figure(name: string, unit: string, budget: Benchmark["budget"], of: (runs: Compared) => Omit<Measurement, "unit">): Benchmark {
  return {
    name: `real engines: ${name}`,
    budget,
    async run() {
      const runs = await compared();
      return { unit, ...(runs.missing === null ? of(runs) : { figure: Number.NaN, detail: runs.missing }) };
    },
  };
}

/** The median error of a figure over all runs. */
const median = (name: string, field: ErrorField, most: number): Benchmark =>
  figure(name, "% off", { figure: most, keep: "at most" }, ({ all, pairs, says }) => {
    const noise = repeatNoise(all, field);
    const beside = noise === null ? "" : `; standard deviation of repeats ${(100 * noise).toFixed(1)} %`;
    return { figure: 100 * medianError(pairs, field), detail: `median of ${says}${beside}` };
  });

/** The largest group's median error of the p95: groups are the shares of saturation. */
const worstGroup = figure("p95, worst group", "% off", { figure: 15, keep: "at most" }, ({ pairs, says }) => {
  const each = SHARES.map((share) => {
    const own = pairs.filter((pair) => pair.share === share);
    return { share, error: medianError(own, "p95") };
  });
  const errors = each.map(({ share, error }) => `${Math.round(100 * share)} %: ${(100 * error).toFixed(1)}`).join(", ");
  return { figure: 100 * Math.max(...each.map(({ error }) => error)), detail: `medians by load of ${says}; ${errors}` };
});

const inBand = (name: string, budget: Benchmark["budget"]): Benchmark =>
  figure(name, "% of plans", budget, ({ pairs, says }) => ({ figure: 100 * bandShare(pairs), detail: `plans of ${says}` }));

const width = figure("half width of the p95 band", "% of the p95", { figure: 25, keep: "at most" }, ({ pairs, says }) => ({
  ...{ figure: 100 * medianHalfWidth(pairs), detail: `median of the plans of ${says}` },
}));

export const realBenchmarks: readonly Benchmark[] = [
  median("mean end to end", "mean", 10),
  median("time per output token", "tpot", 10),
  median("time to first token", "ttft", 15),
  worstGroup,
  inBand("measured p95 in the plan's 90 % band", { figure: 80, keep: "at least" }),
  inBand("measured p95 in the plan's 90 % band, not too wide", { figure: 97, keep: "at most" }),
  width,
];
