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
import { endOnSignals, isEngineThere } from "./realEngine";
import { Records } from "./records";
import { writeReport } from "./report";
import { realSettings } from "./settings";
import { type RealBench, SHARES, singleRuns } from "./singleRuns";
import { type ErrorField, firstOnly, halfWidth, isInBand, medianError, type Pair, pairsOf, repeatNoise } from "./summary";
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
  const began = performance.now();
  const folder = resultsFolder("real");
  const models = join(folder, "models");
  mkdirSync(models, { recursive: true });
  const prepared = await prepareRealModels(models, ["gguf", "hugging-face"]);
  if (!prepared.ok) throw new Error(prepared.message);
  const of = (name: string) => {
    const found = prepared.models.find((one) => one.name === name);
    if (found?.gguf == null || found.huggingFace == null) throw new Error(`${name} was not prepared`);
    return { gguf: found.gguf, trainedGguf: found.trainedGguf, huggingFace: found.huggingFace };
  };
  const [small, large] = [of("arith-small"), of("arith-large")];
  const planner = createPlanner();
  const bench: RealBench = {
    ...{ records: new Records(), settings, planner, folder, cards: cards() },
    timeLeft: () => performance.now() - began < 60_000 * settings.minutes,
    says: (text) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`),
  };
  const engines = settings.engines.filter((kind) => {
    const there = isEngineThere(kind);
    if (!there.ok) bench.says(`Skipped ${kind}: ${there.message}`);
    return there.ok;
  });
  try {
    if (settings.parts.includes("single")) {
      for (const kind of engines) await singleRuns(bench, kind, kind === "vllm" ? large.huggingFace : large.gguf, traffics());
    }
    const [kind] = engines;
    if (settings.parts.includes("cascade") && kind !== undefined) {
      const judging = isEngineThere("llama").ok ? small.trainedGguf : null;
      const files = kind === "vllm" ? [small.huggingFace, large.huggingFace] : [small.gguf, large.gguf];
      await cascadeRuns(bench, { kind, small: files[0] ?? "", large: files[1] ?? "", judging });
    }
  } finally {
    await planner.close();
    bench.says(`Written to ${writeReport(bench.records)}`);
  }
  return bench.records;
});

async function compared(): Promise<readonly Pair[]> {
  return firstOnly(pairsOf(await measured()));
}

const detailOf = (pairs: readonly Pair[], all: string): string =>
  `${all} ${pairs.length} open-loop runs of ${[...new Set(pairs.map(({ engine }) => engine))].join(" and ")} at 20 to 85 % of measured saturation, at lengths and loads that no fit had seen`;

/** The median error of a figure over all runs. */
function median(name: string, field: ErrorField, most: number): Benchmark {
  return {
    name: `real engines: ${name}`,
    budget: { figure: most, keep: "at most" },
    async run(): Promise<Measurement> {
      const pairs = await compared();
      const noise = repeatNoise(pairsOf(await measured()), field);
      const beside = noise === null ? "" : `; standard deviation of repeats ${(100 * noise).toFixed(1)} %`;
      return { figure: 100 * medianError(pairs, field), unit: "% off", detail: `${detailOf(pairs, "median of")}${beside}` };
    },
  };
}

/** The largest group's median error of the p95: groups are the shares of saturation. */
const worstGroup: Benchmark = {
  name: "real engines: p95, worst group",
  budget: { figure: 15, keep: "at most" },
  async run() {
    const pairs = await compared();
    const each = SHARES.map((share) => ({
      share,
      error: medianError(
        pairs.filter((pair) => pair.share === share),
        "p95",
      ),
    })).filter(({ error }) => !Number.isNaN(error));
    const says = each.map(({ share, error }) => `${Math.round(100 * share)} %: ${(100 * error).toFixed(1)}`).join(", ");
    return {
      figure: 100 * Math.max(...each.map(({ error }) => error)),
      unit: "% off",
      detail: `${detailOf(pairs, "medians by load of")}; ${says}`,
    };
  },
};

const band: Benchmark = {
  name: "real engines: measured p95 in the plan's 90 % band",
  budget: { figure: 80, keep: "at least" },
  async run() {
    const pairs = await compared();
    return { figure: (100 * pairs.filter(isInBand).length) / pairs.length, unit: "% of runs", detail: detailOf(pairs, "of") };
  },
};

const width: Benchmark = {
  name: "real engines: half width of the p95 band",
  budget: { figure: 25, keep: "at most" },
  async run() {
    const pairs = await compared();
    const widths = pairs.map(halfWidth).sort((a, b) => a - b);
    return { figure: 100 * (widths[widths.length >> 1] ?? Number.NaN), unit: "% of the p95", detail: detailOf(pairs, "median of") };
  },
};

export const realBenchmarks: readonly Benchmark[] = [
  median("mean end to end", "mean", 10),
  median("time per output token", "tpot", 10),
  median("time to first token", "ttft", 15),
  worstGroup,
  band,
  width,
];
