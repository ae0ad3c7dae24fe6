import { createPlanner, type Planner } from "@/server/planning/planner/planner";
import { choose } from "@/solver/cascade/choose/choose";
import { decodeExploration } from "@/solver/cascade/explore/explorationWire";
import { paretoFront } from "@/solver/cascade/explore/paretoFront";
import { dispatchPoints } from "@/solver/dispatch/chooseDispatch";
import { choosePolicy } from "@/solver/dispatch/choosePolicy";
import type { DispatchExploration } from "@/solver/dispatch/dispatchExploration";
import { seedEstimate } from "@/solver/lab/overSeeds";
import { mean, quantile } from "@/solver/numeric/quantile";
import { MOST_TAU } from "@/solver/plan/planSlack";
import { atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { writeRows, writeTables } from "../lib/results";
import { estimate, ratio, signed, table } from "../lib/tables";
import {
  answersOfLadder,
  type Confidence,
  type DispatchRow,
  floorsOf,
  LADDERS,
  type LadderAnswers,
  objectiveAt,
  rowsOf,
  situationOf,
} from "./dispatchRows";
import { overPrompts, type Verdict } from "./heldOutRuns";

/** Steps of a drag over the whole slider of slack and of tau, and runs of which the fastest counts for each step. */
const STEPS = { slack: 101, tau: 33 };
const RUNS = 3;

/** Points of each frontier in the table. */
const SHOWN = 8;

interface FrontierPoint {
  readonly policy: string;
  readonly setting: string;
  readonly qualityLow: number;
  readonly p95Seconds: number;
  readonly gpus: number;
}

interface LadderResult {
  readonly answers: LadderAnswers;
  readonly rows: readonly DispatchRow[];
  readonly frontier: readonly FrontierPoint[];
  /** Milliseconds of each step. */
  readonly drags: { readonly slack: readonly number[]; readonly tau: readonly number[] };
}

const measured = once(async (): Promise<readonly LadderResult[]> => {
  const planner = createPlanner();
  const results: LadderResult[] = [];
  for (const ladder of LADDERS) {
    const answers = await answersOfLadder(ladder);
    process.stderr.write(`${answers.ladder}: out-of-fold AUC ${answers.auc.join(", ")}\n`);
    const rows = await rowsOf(planner, answers);
    results.push({ answers, rows, ...(await tabled(planner, answers)) });
    writeTables("dispatch", results.map(partOf));
  }
  await planner.close();
  writeRows(
    "dispatch",
    results.flatMap(({ rows }) => rows.map(({ heldOut, ...row }) => ({ ...row, p95Seconds: heldOut && p95s(heldOut) }))),
  );
  return results;
});

const p95s = ({ perturbed, ...own }: NonNullable<DispatchRow["heldOut"]>) => ({
  perturbed: perturbed.p95Seconds,
  modelled: own["as modelled"].p95Seconds,
});

/** The frontiers of both kinds of policy by the tables of the Plan page, and the time of its sliders' steps. */
async function tabled(planner: Planner, answers: LadderAnswers): Promise<Pick<LadderResult, "frontier" | "drags">> {
  const explored = await planner.explore({ ...situationOf(answers, "stated"), around: null });
  if (!explored.ok) throw new Error(explored.message);
  const exploration = decodeExploration(explored.exploration);
  const dispatchOf = async (confidence: Confidence): Promise<DispatchExploration> => {
    const answer = await planner.dispatch(situationOf(answers, confidence));
    if (!answer.ok) throw new Error(answer.message);
    return answer.dispatch;
  };
  const dispatches = { stated: await dispatchOf("stated"), trained: await dispatchOf("trained") };
  const floor = floorsOf(answers)[2] ?? 0;
  const knobs = objectiveAt(floor);
  const { candidates, frontier } = choose(exploration, { ...knobs, qualityFloor: null });
  const cascades = frontier
    .flatMap((at) => candidates[at] ?? [])
    .map((own): FrontierPoint => {
      const { stages = [], thresholds = [] } = exploration.routings[own.routing] ?? {};
      const setting = stages.map((model, at) =>
        [exploration.models[model], thresholds[at] === undefined ? "" : ` <${thresholds[at]}>`].join(""),
      );
      return {
        policy: stages.length === 1 ? "one model" : "cascade",
        setting: setting.join(" "),
        ...{ qualityLow: own.qualityLow, p95Seconds: own.latencySeconds, gpus: own.gpusTotal },
      };
    });
  const slacks = (["stated", "trained"] as const).map((confidence) => {
    const dispatch = dispatches[confidence];
    const points = dispatchPoints(dispatch, knobs, null);
    const axes = points.map((own) => ({
      quality: own.qualityLow,
      latency: own.latencySeconds,
      cost: own.costUsdPerRequest,
      gpus: own.gpusTotal,
    }));
    const front = paretoFront(axes, ["quality", "latency"]).flatMap((at) => points[at] ?? []);
    return front.map(({ allocation, tau, qualityLow, latencySeconds, gpusTotal }): FrontierPoint => {
      const { models = [], gpus = [] } = dispatch.allocations[allocation] ?? {};
      const engines = models.map((model, at) => `${dispatch.models[model]} (${gpus[at]})`).join(", ");
      return { policy: `slack, ${confidence}`, setting: `${engines}, tau ${tau}`, qualityLow, p95Seconds: latencySeconds, gpus: gpusTotal };
    });
  });
  const both = { exploration, dispatch: dispatches.trained };
  const step = (slack: number | undefined, tau: number | null): number => {
    const startedMs = performance.now();
    choosePolicy(both, { ...knobs, slack }, { asked: "any", tau });
    return performance.now() - startedMs;
  };
  const best = (steps: number, of: (share: number) => number): readonly number[] => {
    const drag = () => Array.from({ length: steps }, (_, at) => of(at / (steps - 1)));
    drag();
    const runs = Array.from({ length: RUNS }, drag);
    return Array.from({ length: steps }, (_, at) => Math.min(...runs.map((run) => run[at] ?? Number.NaN)));
  };
  return {
    frontier: [cascades, ...slacks].flatMap(thinned).sort((a, b) => a.qualityLow - b.qualityLow),
    drags: { slack: best(STEPS.slack, (share) => step(share, null)), tau: best(STEPS.tau, (share) => step(undefined, MOST_TAU * share)) },
  };
}

/** Points evenly apart by their place on a frontier, with both of its ends. */
function thinned(front: readonly FrontierPoint[]): readonly FrontierPoint[] {
  const places = Array.from({ length: SHOWN }, (_, at) => Math.round((at * (front.length - 1)) / (SHOWN - 1)));
  return [...new Set(places)].flatMap((place) => front[place] ?? []);
}

const seconds = (value: number): string => `${value.toPrecision(3)} s`;

/** A plan beside itself: one on every day. */
const isSame = (of: { readonly low: number | null; readonly high: number | null } | undefined): boolean => of?.low === 1 && of.high === 1;

const verdictTexts: Readonly<Record<Verdict, string>> = { faster: "faster surely", slower: "slower surely", undecided: "undecided" };

function partOf({ answers, rows, frontier }: LadderResult): string {
  const header = ["floor", "policy", "plan", "p95", "bound", "held-out p95", "engines perturbed", "held-out quality"];
  const lines = rows.map(({ floor, name, planned, reason, heldOut, beside, verdict }) => {
    if (planned === null || heldOut === null) return [String(floor), name, reason ?? "", ...Array.from({ length: 8 }, () => "-")];
    const p95 = (of: readonly number[]): string => `${estimate(overDays(of))} s`;
    return [
      ...[String(floor), name, planned.of, seconds(planned.p95Seconds), planned.qualityLow.toFixed(1)],
      ...[p95(heldOut["as modelled"].p95Seconds), p95(heldOut.perturbed.p95Seconds)],
      signed(overPrompts(heldOut["as modelled"].labels)).replaceAll("+", ""),
      ...[
        ratio(beside?.perturbed.p95Ratio),
        signed(beside?.["as modelled"].quality),
        verdict === null ? "-" : isSame(beside?.perturbed.p95Ratio) ? "same plan" : verdictTexts[verdict],
      ],
    ];
  });
  const front = frontier.map(({ policy, setting, qualityLow, p95Seconds, gpus }) => [
    ...[qualityLow.toFixed(1), seconds(p95Seconds), policy, setting, String(gpus)],
  ]);
  return [
    `${answers.ladder}; out-of-fold AUC of confidence: ${answers.auc.join(", ")}:`,
    table([...header, "p95 to the cascade's", "quality above it", "verdict"], lines),
    "Frontiers of cascades and over tau on one axis, by the tables of the Plan page:",
    table(["bound", "p95", "policy", "setting", "GPUs"], front),
  ].join("\n\n");
}

function overDays(values: readonly number[]) {
  const found = seedEstimate(values);
  if (found === null) throw new Error("a plan leaves requests unserved on some day");
  return found;
}

/** Floors at which the faster of the two slack dispatches has a verdict, of those that a cascade and a slack dispatch reach. */
async function decided(verdict: Verdict): Promise<Measurement> {
  const results = await measured();
  const counts = results.map(({ answers, rows }) => {
    const floors = [...new Set(rows.map(({ floor }) => floor))];
    const verdicts = floors.flatMap((floor) => bestSlack(rows, floor)?.verdict ?? []);
    return {
      ladder: answers.ladder,
      all: floors.length,
      reached: verdicts.length,
      counted: verdicts.filter((own) => own === verdict).length,
    };
  });
  const says = counts.map(({ ladder, all, reached, counted }) => `${ladder}: ${counted} of ${reached} reached, of ${all} asked`);
  return {
    figure: counts.reduce((sum, { counted }) => sum + counted, 0),
    unit: "floors",
    detail: `where slack dispatch is ${verdict} than the cascade of the same floor on held-out prompts, by 90 % intervals under modelled and under perturbed engines; ${says.join("; ")}`,
  };
}

/** The slack dispatch with the lower planned p95 at a floor. */
function bestSlack(rows: readonly DispatchRow[], floor: number): DispatchRow | undefined {
  const own = rows.filter((row) => row.floor === floor && row.name.startsWith("slack") && row.planned !== null && row.beside !== null);
  return own.sort((a, b) => (a.planned?.p95Seconds ?? 0) - (b.planned?.p95Seconds ?? 0))[0];
}

async function difference(): Promise<Measurement> {
  const results = await measured();
  const own = results.map(({ rows }) => [...new Set(rows.map(({ floor }) => floor))].flatMap((floor) => bestSlack(rows, floor) ?? []));
  const percent = (row: DispatchRow): number => 100 * ((row.beside?.perturbed.p95Ratio.value ?? Number.NaN) - 1);
  const points = (row: DispatchRow): number => row.beside?.["as modelled"].quality.value ?? Number.NaN;
  const says = own.map(
    (rows, at) => `${LADDERS[at]?.family} ${mean(rows.map(percent)).toFixed(0)} % and ${mean(rows.map(points)).toFixed(1)} points`,
  );
  return {
    figure: mean(own.flat().map(percent)),
    unit: "%",
    detail: `mean over the floors that both reach of the held-out p95 above the cascade's under perturbed engines; with the held-out quality above it: ${says.join("; ")}`,
  };
}

async function dragStep(of: "slack" | "tau"): Promise<Measurement> {
  const ms = (await measured()).flatMap(({ drags }) => drags[of]);
  return {
    figure: quantile(ms, 0.95),
    unit: "ms",
    detail: `p95 of ${ms.length} warm steps over cascades, one model and slack dispatch on ${LADDERS.length} ladders, best of ${RUNS} runs each; p50 ${quantile(ms, 0.5).toFixed(2)}`,
  };
}

/** Half of a frame: the page draws in the other half. */
const MOST_STEP_MS = 8;

const benchmarks: readonly Benchmark[] = [
  { name: "cascade or slack dispatch, floors where it is surely faster than the cascade", budget: null, run: () => decided("faster") },
  { name: "cascade or slack dispatch, floors where it is surely slower", budget: null, run: () => decided("slower") },
  { name: "cascade or slack dispatch, p95 above the cascade's", budget: null, run: difference },
  {
    name: "cascade or slack dispatch, one step of slack over all policies",
    budget: atMost(MOST_STEP_MS, "a step of slack evaluates policies again"),
    run: () => dragStep("slack"),
  },
  {
    name: "cascade or slack dispatch, one step of tau over all policies",
    budget: atMost(MOST_STEP_MS, "a step of tau evaluates policies again"),
    run: () => dragStep("tau"),
  },
];

export const dispatchBenchmarks: readonly Benchmark[] = dataPresent() ? benchmarks : [];
