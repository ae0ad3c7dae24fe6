import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createPlanner } from "@/server/planning/planner/planner";
import { prepareRealModels } from "@/server/realModels/prepareRealModels";
import { withRealModelCards } from "@/server/realModels/realModelCards";
import type { UserCards } from "@/solver/hardware/cardSchema";
import { readUserCards } from "@/solver/hardware/catalogue";
import { atMost, type Benchmark } from "../lib/benchmark";
import { once } from "../lib/once";
import { resultsFolder } from "../lib/results";
import type { CascadeFigures } from "./cascadeFigures";
import { rowsOf } from "./cascadeReport";
import { cascadeRuns } from "./cascadeRuns";
import { isEngineThere } from "./connections";
import { endOnSignals } from "./realEngine";
import { Records } from "./records";
import { writeReport } from "./report";
import { samePairs } from "./samePairs";
import { realSettings } from "./settings";
import { type RealBench, singleRuns } from "./singleRuns";
import { firstOnly, type Pair, pairsOf, plansOnly, repeatNoise } from "./summary";
import { missingFor, p95ByShare, type Target, targets } from "./targets";
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
  const all = by === "the plan" ? planned : samePairs(planned, records, traffics());
  const pairs = firstOnly(all);
  const engines = [...new Set(pairs.map(({ engine }) => engine))].join(" and ");
  const refused = by === "the plan" ? `, ${pairs.length - plansOnly(pairs).length} of them refused by the planner` : "";
  return {
    ...{ all, pairs, missing: missingFor(all) },
    says: `${pairs.length} open-loop runs of ${engines} at 20 to 85 % of measured saturation${refused}; predicted by ${by}; the fit saw closed loops of spread lengths (see real.md)`,
  };
}

/** A target as a benchmark; its figure is none where there are too few runs. */
const figure = (target: Target, by: By): Benchmark => ({
  name: `real engines, by ${by}: ${target.name}`,
  budget: target.budget,
  async run() {
    const { all, pairs, missing, says } = await compared(by);
    const { unit, of, field } = target;
    if (missing !== null) return { unit, figure: Number.NaN, detail: missing };
    const noise = field === null ? null : repeatNoise(all, field);
    const groups = field === "p95" ? `; by load ${p95ByShare(pairs).map(groupText).join(", ")}` : "";
    const beside = noise === null ? "" : `; standard deviation of repeats ${(100 * noise).toFixed(1)} %`;
    return { unit, figure: of(pairs), detail: `of ${says}${groups}${beside}` };
  },
});

const groupText = ({ share, error }: { readonly share: number; readonly error: number }): string =>
  `${Math.round(100 * share)} %: ${error.toFixed(1)}`;

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
  ...targets.map((target) => figure(target, "the plan")),
  ...targets.map((target) => figure(target, "the same requests")),
  cascade("quality predicted and measured", 2, ({ quality }) => quality),
  cascade("share sent on, predicted and measured", 3, ({ escalated }) => (escalated === null ? null : 100 * escalated)),
];
