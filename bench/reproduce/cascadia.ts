import { namedPlanText, planFigureName } from "../cascadia/cascadia";
import type { MeasuredRows } from "./figureRows";
import { parallelRows } from "./parallelRates";
import { CASCADE_SERVE, ROUTER, replannedName, STAND_ALONE } from "./replanned";
import { replannedJudges } from "./replannedJudges";
import { detectedNames } from "./replannedReplay";

const LADDERS =
  "Ours is on ladders whose answers are public (Llama-3.1, Gemma-2, Qwen2.5; a factor of 13 to 50 in size, answers of 150 to 230 tokens), Azure's arrivals and simulated H100s, with a modelled judge of AUC .80; the source serves DeepSeek models from 7B to 671B on 32 H100s.";
const RACE = `${LADDERS} Every system is planned anew at every rate and measured on prompts and arrivals that no plan saw.`;
const ALONE =
  "Stand-alone is the smallest model that meets the floor, its replicas and its step budget tuned (Sarathi-Serve), which is at least as good as the source's; a rate that overloads it has no SLO scale and is left out.";
const MODELLED_SERVE =
  "CascadeServe is modelled with Weir's own simulator and shape search: it lacks only lengths and the end-to-end objective. The source's is a system of its own.";
const ONE_MACHINE = "The source gives the value of one machine and one trace that are not published: a ratio is all that can be compared.";
const TRACES = "The source's three traces and its models' answers to them are not public, so that no plan can be made for them.";
const NAMED = `Ours, the same in every such row, is one plan of one case of the race (${namedPlanText}), with the judge's engines in the cluster.`;
const KEPT_UNIFORM =
  "Plans are made for one rate and kept: the race in which every system is planned anew has no uniform plans. Cases in which the uniform plan is overloaded are left out.";
const REPLAY =
  "Ours is a simulated replay of segments as long as the source's on Llama-3.1 8B and 70B and 8 H100s, in which the studio's drift test has to find every change; roll-outs take 10 s a replica.";
const JUDGES =
  "Ours is a modelled judge of AUC .7 against one of .8, in one case of Llama-3.1 whose plans ask their judge (60 % hard prompts, a floor half of the way): no scores of the source's judges are public, and their reliability is not given as an AUC.";
const SHAPES =
  "Ours is Llama 3.1 70B on H100s with NVLink, every request at the source's mean lengths. The source's table does not name its GPUs: by its own rows a pipeline of four is faster than tensor parallelism of four, which is so where links between GPUs are slow. Ratios between configurations can be compared, rates cannot.";

/** The two rows of a figure against a system, on average and at most. */
const against = (
  figure: string,
  { rows, system, metric, difference }: { rows: string; system: string; metric: "highest rate" | "SLO scale"; difference: string },
): readonly MeasuredRows[] =>
  (
    [
      ["on average", "mean"],
      ["at most", "most"],
    ] as const
  ).map(([which, summary]) => ({
    ...{ figure, rows: `against ${rows}, ${which}` },
    ...{ benchmark: replannedName({ metric, systems: [system], summary }), difference },
  }));

const STAND_ALONE_ROWS = { rows: "stand-alone", system: STAND_ALONE, difference: `${RACE} ${ALONE}` } as const;
const CASCADE_SERVE_ROWS = { rows: "CascadeServe", system: CASCADE_SERVE, difference: `${RACE} ${MODELLED_SERVE}` } as const;

/** Cascadia: its planner against its baselines, its alternation, its simulator. */
export const cascadiaRows: readonly MeasuredRows[] = [
  ...against("5", { ...STAND_ALONE_ROWS, metric: "SLO scale" }),
  ...against("5", { ...CASCADE_SERVE_ROWS, metric: "SLO scale" }),
  { figure: "5", difference: ONE_MACHINE },
  ...against("6", { ...STAND_ALONE_ROWS, metric: "highest rate" }),
  ...against("6", { ...CASCADE_SERVE_ROWS, metric: "highest rate" }),
  ...(
    [
      ["on average", "mean"],
      ["at most", "most"],
    ] as const
  ).map(
    ([which, summary]): MeasuredRows => ({
      ...{ figure: "7", rows: `against both baselines, ${which}` },
      benchmark: replannedName({ metric: "SLO scale", systems: [STAND_ALONE, CASCADE_SERVE], summary, ladder: "Llama" }),
      difference: `${RACE} Ours is Llama-3.1 with its 405B model too. ${ALONE} ${MODELLED_SERVE}`,
    }),
  ),
  {
    figure: "8",
    benchmark: planFigureName("p95"),
    difference: `The source shows it in a plot alone. ${NAMED}`,
  },
  {
    figure: "9",
    rows: "uniform parallelism in place of the search, on average",
    benchmark: "SLO scale of uniform parallelism over Weir's",
    difference: `${LADDERS} ${KEPT_UNIFORM}`,
  },
  {
    figure: "9",
    rows: "uniform parallelism in place of the search, at most",
    benchmark: "SLO scale of uniform parallelism over Weir's, at most",
    difference: `${LADDERS} ${KEPT_UNIFORM}`,
  },
  {
    figure: "9",
    rows: "uniform allocation in place of the search, on average",
    benchmark: "SLO scale of uniform allocation over Weir's",
    difference: `${LADDERS} ${KEPT_UNIFORM}`,
  },
  {
    figure: "9",
    rows: "uniform allocation in place of the search, at most",
    benchmark: "SLO scale of uniform allocation over Weir's, at most",
    difference: `${LADDERS} ${KEPT_UNIFORM}`,
  },
  { figure: "9", difference: TRACES },
  {
    figure: "10",
    rows: "32 GPUs",
    benchmark: "whole plan, 32 GPUs, cold",
    as: "seconds",
    difference: "Weir's tables need hundreds of short simulations of a replica; the source's planner used 12 cores.",
  },
  {
    figure: "10",
    rows: "80 GPUs",
    benchmark: "whole plan, 80 GPUs, cold",
    as: "seconds",
    difference: "Weir's tables need hundreds of short simulations of a replica; the source's planner used 12 cores.",
  },
  {
    figure: "11",
    rows: "on average",
    benchmark: detectedNames.overCascadeServe,
    difference: `${REPLAY} Ours is against CascadeServe, which sees the rate alone, in the source's windows of five minutes; windows of one minute are in its details. The source's is over both baselines.`,
  },
  {
    figure: "11",
    rows: "at most",
    benchmark: detectedNames.overStandAlone,
    difference: `${REPLAY} Ours is against the stand-alone model of the first segment, which the next ones overload.`,
  },
  {
    figure: "T1",
    rows: "error",
    difference:
      "No benchmark measures tensor or pipeline parallelism on real GPUs. Without parallelism `recorded sweep: saturation rate` of `npm run bench` has the error on a real vLLM, which the fit had not seen. Errors on published H100 and H200 runs are printed by `weir simulate --rows`.",
  },
  ...parallelRows.map(({ rows, benchmark }): MeasuredRows => ({ figure: "T1", rows, benchmark, difference: SHAPES })),
  { figure: "T1", difference: "It needs the source's GPUs: Llama3-70B on 4 and 8 of them." },
  { figure: "T2", rows: "thresholds", benchmark: planFigureName("thresholds"), difference: `${TRACES} ${NAMED}` },
  { figure: "T2", rows: "share of requests by stage", benchmark: planFigureName("shares"), difference: `${TRACES} ${NAMED}` },
  { figure: "T2", rows: "GPUs by stage", benchmark: planFigureName("gpus"), difference: `${TRACES} ${NAMED}` },
  { figure: "T3", rows: "parallelism by stage", benchmark: planFigureName("parallelism"), difference: `${TRACES} ${NAMED}` },
  { figure: "T3", difference: `${TRACES} It is a variant of the first of them.` },
  {
    figure: "T4",
    rows: "ratio to Sarathi-Serve, on average",
    benchmark: replannedName({ metric: "highest rate", systems: [STAND_ALONE], summary: "mean" }),
    difference: `${RACE} Prompts are short against answers here, so that a step budget matters little.`,
  },
  { figure: "T4", difference: `${TRACES} Only the mean ratio can be compared.` },
  {
    figure: "T5",
    rows: "quality 90: Cascadia",
    benchmark: detectedNames.weir,
    difference: `${REPLAY} A base of the SLO scale is the mean of an unloaded request over the ladder, which differs.`,
  },
  {
    figure: "T5",
    rows: "quality 90: CascadeServe",
    benchmark: detectedNames.cascadeServe,
    difference: `${REPLAY} ${MODELLED_SERVE}`,
  },
  {
    figure: "T5",
    rows: "quality 90: stand-alone",
    benchmark: "fluctuating load, SLO scale of stand-alone",
    difference: `${REPLAY} The first segment's model is kept and is overloaded later.`,
  },
  { figure: "T5", difference: "It follows from the SLO scales above." },
  {
    figure: "T6",
    rows: "mean score against GPT-4o",
    difference:
      "GPT-4o's scores of the source's answers are not public, and a modelled judge has no scale of its own. `Cascadia, WildBench's real judge` of `npm run bench` gates with GPT-4-turbo's scores of other answers, whose labels are GPT-4o's.",
  },
  {
    figure: "T6",
    rows: "requests sent to the larger model",
    benchmark: replannedJudges.weakerToLarger,
    as: "per cent more",
    difference: `${JUDGES} Ours is one figure for both judges: what the smallest model does not answer.`,
  },
  {
    figure: "T6",
    rows: "latency at the same floor",
    benchmark: replannedJudges.weakerLatency,
    as: "per cent more",
    difference: `${JUDGES} Ours is one figure for both judges, p95.`,
  },
  {
    figure: "T7",
    rows: "cost against CascadeServe",
    benchmark: replannedName({ metric: "cost", systems: [CASCADE_SERVE], summary: "mean" }),
    as: "per cent less than the other",
    difference: `${RACE} ${MODELLED_SERVE} Ours is the mean over cases at half of CascadeServe's highest rate, the same for all systems; the least and the most are in its details.`,
  },
  {
    figure: "T7",
    rows: "cost against stand-alone",
    benchmark: replannedName({ metric: "cost", systems: [STAND_ALONE], summary: "mean" }),
    as: "per cent less than the other",
    difference: `${RACE} ${ALONE} Ours is the mean over cases at half of CascadeServe's highest rate, the same for all systems; the least and the most are in its details.`,
  },
  { figure: "T7", difference: `${TRACES} Only ratios of costs can be compared.` },
  {
    figure: "text",
    rows: "lower SLO scale than RouteLLM",
    benchmark: replannedName({ metric: "SLO scale", systems: [ROUTER], summary: "mean" }),
    as: "per cent less than the other",
    difference: `${RACE} The router is trained on these prompts' words.`,
  },
  {
    figure: "text",
    rows: "higher throughput than RouteLLM",
    benchmark: replannedName({ metric: "highest rate", systems: [ROUTER], summary: "mean" }),
    as: "per cent more",
    difference: `${RACE} The router is trained on these prompts' words.`,
  },
  {
    figure: "text",
    rows: "latency above exhaustive search",
    benchmark: "plans as good as exhaustive search over unpruned shapes",
    difference:
      "Ours counts drawn instances in which the plan is within 1 % of exhaustive search over every shape that fits, by tables. Their limit is 8 GPUs, as multisets of all shapes are too many on more.",
  },
  {
    figure: "text",
    rows: "faster than exhaustive search",
    benchmark: "plans found faster than by exhaustive search, end-to-end",
    difference:
      "Ours counts drawn instances at least 100 times faster than simulating every plan whole, which is an estimate; instances are small, and the search is over the planner's own shapes.",
  },
  {
    figure: "text",
    rows: "latency gain of a BERT judge",
    benchmark: replannedJudges.classifierLatency,
    as: "per cent less",
    difference:
      "Ours is a modelled classifier as reliable as the judge, on GPUs that the cluster gives up for it; the source's repeats GPT-4o's scores. p95, in one case of Llama-3.1.",
  },
  {
    figure: "text",
    rows: "fine-tuned BERT as judge",
    difference:
      "No classifier was trained on answers here. `Cascadia, local classifier` of `npm run bench` models one, and plans with its own scores, so that the floor is planned for.",
  },
  { figure: "text", difference: "It needs GPT-4o or the source's GPUs." },
];
