import type { MeasuredRows } from "./figureRows";

const LADDERS =
  "Ours is on ladders whose answers are public (Llama-3.1, Gemma-2, Qwen2.5; a factor of 13 to 50 in size, answers of 150 to 230 tokens), Azure's arrivals and simulated H100s, with a modelled judge of AUC .80; the source serves DeepSeek models from 7B to 671B on 32 H100s.";
const ALONE =
  "In several cases Weir's plan is the stand-alone model itself; where that model cannot carry the rate, its SLO scale only says how long the run was and is left out here.";
const CASCADE_SERVE =
  "CascadeServe is modelled with Weir's own simulator and shape search: it lacks only lengths and the end-to-end objective. The source's is a system of its own.";
const ONE_MACHINE = "The source gives the value of one machine and one trace that are not published: a ratio is all that can be compared.";
const TRACES = "The source's three traces and its models' answers to them are not public, so that no plan for them can be made.";
const RE_PLANNED =
  "On Weir's own ladders the systems are measured by `Cascadia, re-planned`, one benchmark a ladder, each system planned anew at every rate; not run yet.";
const REPLAY =
  "Ours is a simulated replay of segments as long as the source's on Llama-3.1 8B and 70B and 8 H100s; that traffic has changed is known at once, and roll-outs take 10 s a replica.";

/** Cascadia: its planner against its baselines, its alternation, its simulator. */
export const cascadiaRows: readonly MeasuredRows[] = [
  {
    figure: "5",
    rows: "against stand-alone, on average",
    benchmark: "SLO scale of stand-alone over Weir's",
    difference: `${LADDERS} ${ALONE}`,
  },
  {
    figure: "5",
    rows: "against stand-alone, at most",
    benchmark: "SLO scale of stand-alone over Weir's, at most",
    difference: `${LADDERS} ${ALONE}`,
  },
  {
    figure: "5",
    rows: "against CascadeServe, on average",
    benchmark: "SLO scale of CascadeServe over Weir's",
    difference: `${LADDERS} ${CASCADE_SERVE}`,
  },
  {
    figure: "5",
    rows: "against CascadeServe, at most",
    benchmark: "SLO scale of CascadeServe over Weir's, at most",
    difference: `${LADDERS} ${CASCADE_SERVE}`,
  },
  { figure: "5", difference: ONE_MACHINE },
  {
    figure: "6",
    rows: "against stand-alone, on average",
    benchmark: "throughput of Weir over stand-alone's",
    difference: `${LADDERS} Plans are made for the least latency, not the highest rate.`,
  },
  {
    figure: "6",
    rows: "against stand-alone, at most",
    benchmark: "throughput of Weir over stand-alone's, at most",
    difference: `${LADDERS} Plans are made for the least latency, not the highest rate.`,
  },
  {
    figure: "6",
    rows: "against CascadeServe, on average",
    benchmark: "throughput of Weir over CascadeServe's",
    difference: `${LADDERS} ${CASCADE_SERVE}`,
  },
  {
    figure: "6",
    rows: "against CascadeServe, at most",
    benchmark: "throughput of Weir over CascadeServe's, at most",
    difference: `${LADDERS} ${CASCADE_SERVE}`,
  },
  {
    figure: "7",
    difference:
      "No benchmark has the Llama ladder alone: it is one of the three of figures 5 and 6, case by case in bench/results/cascadia-baselines.md.",
  },
  {
    figure: "8",
    difference: "The source shows it in a plot alone. Every plan of Weir has the p95 of each stage, on the Plan page and in its document.",
  },
  {
    figure: "9",
    rows: "uniform parallelism in place of the search, on average",
    benchmark: "SLO scale of uniform parallelism over Weir's",
    difference: `${LADDERS} Cases in which the uniform plan is overloaded are left out.`,
  },
  {
    figure: "9",
    rows: "uniform parallelism in place of the search, at most",
    benchmark: "SLO scale of uniform parallelism over Weir's, at most",
    difference: `${LADDERS} Cases in which the uniform plan is overloaded are left out.`,
  },
  {
    figure: "9",
    rows: "uniform allocation in place of the search, on average",
    benchmark: "SLO scale of uniform allocation over Weir's",
    difference: `${LADDERS} Cases in which the uniform plan is overloaded are left out.`,
  },
  {
    figure: "9",
    rows: "uniform allocation in place of the search, at most",
    benchmark: "SLO scale of uniform allocation over Weir's, at most",
    difference: `${LADDERS} Cases in which the uniform plan is overloaded are left out.`,
  },
  { figure: "9", difference: TRACES },
  {
    figure: "10",
    rows: "32 GPUs",
    benchmark: "whole plan, 32 GPUs, cold",
    as: "seconds",
    difference: "Weir's tables need some 400 short simulations of a replica; the source's planner used 12 cores.",
  },
  {
    figure: "10",
    rows: "80 GPUs",
    benchmark: "whole plan, 80 GPUs, cold",
    as: "seconds",
    difference: "Weir's tables need some 400 short simulations of a replica; the source's planner used 12 cores.",
  },
  {
    figure: "11",
    rows: "on average",
    benchmark: "fluctuating load, re-planned over CascadeServe",
    difference: `${REPLAY} Ours is against CascadeServe, the source's over both baselines.`,
  },
  {
    figure: "11",
    rows: "at most",
    benchmark: "fluctuating load, re-planned over stand-alone",
    difference: `${REPLAY} Ours is against the stand-alone model of the first segment, which the next ones overload.`,
  },
  {
    figure: "T1",
    rows: "error",
    difference:
      "No benchmark measures tensor or pipeline parallelism on real GPUs. Without parallelism, `recorded sweep: saturation rate` is 10.1 % off at the worst of four lengths of a real vLLM on a processor, which the fit had not seen. Errors on published H100 and H200 runs are printed by `weir simulate --rows`.",
  },
  { figure: "T1", difference: "It needs the source's GPUs: Llama3-70B on 4 and 8 of them." },
  { figure: "T2", difference: TRACES },
  { figure: "T3", difference: TRACES },
  { figure: "T4", difference: `${TRACES} ${RE_PLANNED} One of them is Sarathi-Serve with its step budget tuned.` },
  {
    figure: "T5",
    rows: "quality 90: Cascadia",
    benchmark: "fluctuating load, SLO scale of Weir, re-planned",
    difference: `${REPLAY} A base of the SLO scale is the mean of an unloaded request over the ladder, which differs.`,
  },
  {
    figure: "T5",
    rows: "quality 90: CascadeServe",
    benchmark: "fluctuating load, SLO scale of CascadeServe",
    difference: `${REPLAY} ${CASCADE_SERVE}`,
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
    difference:
      "GPT-4o's scores of the source's answers are not public. Judges of other reliability are measured by `Cascadia, judge of AUC 0.7` and its like (modelled) and by `Cascadia, WildBench's real judge, 3 s` (GPT-4-turbo's scores), not run yet. The same plans under modelled judges of other reliability are in every plan (`judgeOutlooks`).",
  },
  {
    figure: "T7",
    difference: `${TRACES} ${RE_PLANNED} Their tables have the cost of a request of each system, and \`weir compare\` prints it.`,
  },
  {
    figure: "text",
    rows: "lower SLO scale than RouteLLM",
    benchmark: "SLO scale of a trained router over Weir's",
    as: "per cent less than the other",
    difference: `${LADDERS} The router is trained on these prompts' words.`,
  },
  {
    figure: "text",
    rows: "higher throughput than RouteLLM",
    benchmark: "throughput of Weir over a trained router's",
    as: "per cent more",
    difference: `${LADDERS} The router is trained on these prompts' words.`,
  },
  {
    figure: "text",
    rows: "latency above exhaustive search",
    benchmark: "plans as good as exhaustive search, end-to-end",
    difference: "Ours counts drawn instances in which the plan is within 1 % of exhaustive search over tables of the same shapes.",
  },
  {
    figure: "text",
    rows: "faster than exhaustive search",
    benchmark: "plans found faster than by exhaustive search, end-to-end",
    difference:
      "Ours counts drawn instances at least 100 times faster than simulating every plan whole, which is an estimate; instances are small.",
  },
  { figure: "text", difference: "It needs GPT-4o or the source's GPUs." },
];
