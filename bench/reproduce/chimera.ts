import { encoderFolder } from "../lib/encoded";
import type { MeasuredRows } from "./figureRows";

const ENGINES =
  "Ours runs on simulated engines (L40S, each with as many sequences as its memory holds, 256 at most); the source on real ones.";
const PROGRAMS =
  "Programs are drawn from public answers to gsm and crux, whose stages are alike by a stated correlation of .5, over five ladders at 0.95 of saturation; the source's are APPS and MATH, at 8 to 16 requests a second.";
const CONFIDENCE =
  "What the prompts' words tell of whether an answer is right is little, so that waiting for a surer model seldom pays; what an oracle of the router gains, and the AUC of the learnt one, are in bench/results/chimera.md.";
const POINT = "Ours is at one slack and margin for all ladders; the source picks its points by setting.";
const ABSOLUTE = "The source gives the value of one setting of its GPUs, models and data: only ratios can be compared.";
const SLACKS = "No benchmark has the source's pair of slacks as a figure: frontiers over slacks are tables of bench/results/chimera.md.";
const PARTS = "The source shows a frontier and no number; the frontiers of all variants are tables of bench/results/chimera.md.";
const BETWEEN = "No benchmark compares these two baselines: the table `chimera-frontier` of bench/results/chimera.md has both.";
const TOTALS =
  "Ours is the mean over five ladders and tasks of gsm and crux, stages correlated by .5; answers are a third as long as the source's.";
const PRECISION =
  "Ours is the mean over ladders on gsm and crux; an average precision is read against the share that is right, and answers to gsm are mostly right. The source fine-tunes ModernBERT.";

const baseline = (name: string, benchmark: string): readonly MeasuredRows[] => [
  {
    figure: "5",
    rows: `Chimera over ${name}, speed-up`,
    benchmark: `chimera: latency a token of ${benchmark} over Chimera's`,
    difference: `${ENGINES} ${PROGRAMS} ${POINT}`,
  },
  {
    figure: "5",
    rows: `Chimera less ${name}, score`,
    benchmark: `chimera: quality over ${benchmark}'s`,
    difference: `${PROGRAMS} ${CONFIDENCE} ${POINT}`,
  },
];

/** Chimera: queue orders, the race against its baselines, its predictors. */
export const chimeraRows: readonly MeasuredRows[] = [
  {
    figure: "3",
    rows: "SJF less than FCFS",
    benchmark: "chimera: queue time of SJF over FCFS, oracle lengths",
    as: "per cent less",
    difference: `${ENGINES} ${PROGRAMS} Lengths are true ones, as in the source; the gain grows with the load.`,
  },
  {
    figure: "3",
    rows: "STJF less than SJF",
    benchmark: "chimera: queue time of STJF over SJF, oracle lengths",
    as: "per cent less",
    difference: `${ENGINES} ${PROGRAMS} Lengths are true ones, as in the source; the gain grows with the load.`,
  },
  {
    figure: "5",
    rows: "latency, vLLM and other baselines over Chimera",
    benchmark: "chimera: latency a token of vLLM balancing over Chimera's",
    difference: `${ENGINES} ${PROGRAMS} ${POINT}`,
  },
  {
    figure: "5",
    rows: "score of Chimera less the baselines'",
    benchmark: "chimera: quality over vLLM balancing's",
    difference: `${PROGRAMS} ${CONFIDENCE} ${POINT}`,
  },
  { figure: "5", rows: ": vLLM, latency a token", difference: ABSOLUTE },
  { figure: "5", rows: ": vLLM, score", difference: ABSOLUTE },
  ...baseline("vLLM", "vLLM balancing"),
  ...baseline("MLFQ", "MLFQ"),
  ...baseline("LTR", "LTR"),
  { figure: "5", rows: "Chimera at a larger slack", difference: SLACKS },
  { figure: "5", difference: BETWEEN },
  {
    figure: "6",
    benchmark: "chimera: latency a token of load rule only over Chimera's",
    difference: `${PARTS} Ours is without the router over with it, at one slack; points are in its details. ${CONFIDENCE}`,
  },
  {
    figure: "7",
    rows: "true lengths",
    benchmark: "chimera: latency a token of oracle lengths over Chimera's",
    difference: `${PARTS} Ours is true lengths over learnt ones at the narrowest slack, the mean over all ladders. ${ENGINES}`,
  },
  {
    figure: "7",
    benchmark: "chimera: latency a token of oracle router over Chimera's",
    difference: `${PARTS} Ours is the oracle of the router over the learnt one at the widest slack; points are in its details.`,
  },
  {
    figure: "table 1",
    rows: "scheduler, share of end-to-end latency",
    benchmark: "chimera: the scheduler's share of a program's time",
    difference:
      "Ours is the largest share over all ladders and loads, one figure for all rows: policy, router and predictor by features of the words on one core, over the simulated time of programs. The source's encoder runs on a GPU.",
  },
  {
    figure: "table 1",
    rows: "share of end-to-end latency",
    difference: "Router and predictor are timed together with the policy: the share of the scheduler has all three.",
  },
  {
    figure: "table 1",
    rows: "scheduler",
    benchmark: "gateway added latency with predictors live, p50",
    difference:
      "Ours is what predictors and decision add to a request of the gateway at 50 requests a second, by features of the words on one core; the source's encoder runs on a GPU.",
  },
  {
    figure: "table 1",
    rows: "router",
    benchmark: "prediction: latency at batch 32",
    difference: "Ours is router and length predictor together, by features of the words on one core; the source's encoder runs on a GPU.",
  },
  {
    figure: "table 1",
    rows: "predictor",
    benchmark: "prediction: latency at batch 32",
    difference: "Ours is router and length predictor together, by features of the words on one core; the source's encoder runs on a GPU.",
  },
  { figure: "table 1", difference: ABSOLUTE },
  // Where no encoder is installed all rows have the figure of heads on words.
  ...(encoderFolder() === null
    ? []
    : [
        {
          figure: "table 2",
          rows: "ModernBERT-base",
          benchmark: "prediction: mean average precision on an encoder",
          difference: `Ours reads embeddings of all-MiniLM-L6-v2, with 22 million parameters and not fine-tuned. ${PRECISION} Beside ModernBERT-large stands ours on words.`,
        },
      ]),
  {
    figure: "table 2",
    benchmark: "prediction: mean average precision of confidence",
    difference: `Ours reads features of the prompt's words. ${PRECISION}`,
  },
  { figure: "table 3", rows: "QRF, ", benchmark: "prediction: order of learnt lengths", difference: TOTALS },
  { figure: "table 3", rows: "FCFS, ", benchmark: "prediction: order of arrival", difference: TOTALS },
  { figure: "table 3", rows: "input length, ", benchmark: "prediction: order of the input's length", difference: TOTALS },
  { figure: "table 3", difference: "It follows from the distances above." },
];
