import { existsSync } from "node:fs";
import { type ComparisonContext, groundOf } from "@/server/planning/compare/compareGround";
import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import { type ComparedGate, ratePlanners } from "@/server/planning/rates/ratePlanners";
import { type AtRate, highestReplanned } from "@/server/planning/rates/replanned";
import { workloadHash } from "@/server/workloads/workloadCodec";
import { baseSeconds, drawTraffic } from "@/solver/baselines/measure";
import { aucOf } from "@/solver/judging/concordance";
import { mean } from "@/solver/numeric/quantile";
import type { OutcomeTable, Workload } from "@/solver/workload/workload";
import type { Benchmark, Measurement } from "../lib/benchmark";
import { ratioOf } from "../lib/bySeed";
import { dataPresent, workloadOf } from "../lib/compareData";
import { MEASURED_SCORES, withMeasuredScores } from "../lib/measuredScores";
import { once } from "../lib/once";
import { writeRows, writeTables } from "../lib/results";
import { ratio, table } from "../lib/tables";
import { cascadiaCases } from "./cases";

/** The source's time of a judgement of one token, and of one with the 230 tokens that this judge writes on average, at 13 ms a token. */
const JUDGE_SECONDS = [0.27, 3] as const;

/** Shares of the way from the smaller model's quality to the larger's. */
const FLOORS = [0.5, 0.9] as const;

/** Requests a second, tried first. */
const FIRST_RATE = 100;

/** They need trained heads and several categories of prompts, which there are not here. */
const NOT_BUILT: readonly string[] = ["trained router", "CascadeServe, complexity-blind"];

interface WildRow {
  readonly seed: number;
  readonly floor: number;
  readonly judgeSeconds: number;
  readonly auc: number;
  readonly system: string;
  readonly highest: AtRate | null;
}

const measured = once(async (): Promise<readonly WildRow[]> => {
  const read = await workloadOf({ family: "Gemma-it", tasks: ["wildbench"], judgeAuc: 0.8 });
  const judged = await withMeasuredScores(read.outcomes);
  const [first] = judged.models;
  const answers = Array.from(first?.label ?? [], (label, row) => ({ label, score: first?.judged[row] ?? 0 }));
  const auc = aucOf(answers)?.value ?? Number.NaN;
  const rows: WildRow[] = [];
  for (const seed of cascadiaCases.seeds) {
    const context = await contextOf({ ...read, seed, outcomes: judged });
    const [small, large] = judged.models.map(({ label }) => mean(Float64Array.from(context.planning, (row) => label[row] ?? 0)));
    for (const share of FLOORS)
      for (const judgeSeconds of JUDGE_SECONDS) {
        const floor = Math.floor((small ?? 0) + share * ((large ?? 0) - (small ?? 0)));
        const gate: ComparedGate = {
          ...{ kind: "judge", outcomes: judged, secondsPerCall: judgeSeconds, usdPerCall: 0, engines: null, starts: false },
        };
        const own = { ...context, judge: { ...context.judge, secondsPerCall: judgeSeconds } };
        const measuring = measuringOf(own, judged);
        const planners = ratePlanners({ context: own, floor, judge: gate, gates: [gate], cascades: [], trained: null });
        for (const planner of planners.filter(({ kind }) => !NOT_BUILT.includes(kind)))
          rows.push({
            seed,
            floor: share,
            judgeSeconds,
            auc,
            system: planner.kind,
            highest: highestReplanned(planner, measuring, FIRST_RATE),
          });
        process.stderr.write(`wildbench: seed ${seed}, floor ${floor}, ${judgeSeconds} s\n`);
      }
  }
  writeRows("cascadia-wildbench", rows);
  writeTables("cascadia-wildbench", [wildTable(rows)]);
  return rows;
});

async function contextOf(workload: Workload): Promise<ComparisonContext> {
  const nodes = [{ name: "node1", gpus: 4 }];
  const cluster = { id: "bench", name: "bench", kind: "described" as const, gpu: "h100-sxm", nodes, usdPerGpuHour: 2.67 };
  return groundOf({ situation: { workload, workloadId: workloadHash(workload), cluster }, engine: await loadGlpkEngine() });
}

function measuringOf({ request, models, shapes, measuring, judge }: ComparisonContext, outcomes: OutcomeTable) {
  const { workload, cluster } = request.situation;
  const source = { outcomes, arrivalSeconds: workload.arrivalSeconds, judgeSeconds: judge.secondsPerCall };
  return {
    traffic: drawTraffic(source, { rows: measuring, requests: cascadiaCases.requests, seed: workload.seed }),
    ...{ measuring, choice: { models, shapes }, usdPerGpuHour: cluster.usdPerGpuHour },
    deadlineSeconds: cascadiaCases.sloScale * baseSeconds(outcomes, measuring, { models, shapes }),
  };
}

const rateOf = ({ highest }: WildRow): number => highest?.requestsPerSecond ?? Number.NaN;

function wildTable(rows: readonly WildRow[]): string {
  return table(
    ["floor", "a judgement takes", "system", "highest rate, Weir's over it", "quality", "cost of a million requests"],
    FLOORS.flatMap((floor) =>
      JUDGE_SECONDS.flatMap((judgeSeconds) => {
        const own = rows.filter((row) => row.floor === floor && row.judgeSeconds === judgeSeconds);
        const of = (system: string): readonly WildRow[] => own.filter((row) => row.system === system);
        return [...new Set(own.map(({ system }) => system))].map((system) => {
          const setting = [String(floor), `${judgeSeconds} s`, system];
          if (of(system).every(({ highest }) => highest === null)) return [...setting, "at no rate", "-", "-"];
          return [
            ...setting,
            `${ratio(ratioOf([{ own: of("Weir").map(rateOf), reference: of(system).map(rateOf) }]))}, ${mean(of(system).map(rateOf)).toFixed(1)}/s`,
            mean(of(system).map(({ highest }) => highest?.quality ?? Number.NaN)).toFixed(1),
            `${(1e6 * mean(of(system).map(({ highest }) => highest?.costUsdPerRequest ?? Number.NaN))).toFixed(0)} USD`,
          ];
        });
      }),
    ),
  );
}

async function overAlone(judgeSeconds: number): Promise<Measurement> {
  const rows = (await measured()).filter((row) => row.judgeSeconds === judgeSeconds);
  const of = (system: string, floor: number): readonly number[] =>
    rows.filter((row) => row.system === system && row.floor === floor).map(rateOf);
  const found = ratioOf(FLOORS.map((floor) => ({ own: of("Weir", floor), reference: of("largest model alone", floor) })));
  return {
    figure: found?.value ?? Number.NaN,
    unit: "x",
    detail: `highest rate over the larger model alone, ${ratio(found)}; Gemma 2B and 7B on WildBench, gated by GPT-4-turbo's measured scores (concordance ${rows[0]?.auc.toFixed(2)} with GPT-4o's labels), ${judgeSeconds} s a judgement; prompt lengths estimated`,
  };
}

/** A ladder that two real judges have scored: one gates, the other labels. None where the data is missing. */
export const wildbenchBenchmarks: readonly Benchmark[] =
  dataPresent() && existsSync(MEASURED_SCORES)
    ? JUDGE_SECONDS.map((seconds) => ({
        name: `Cascadia, WildBench's real judge, ${seconds} s`,
        budget: null,
        run: () => overAlone(seconds),
      }))
    : [];
