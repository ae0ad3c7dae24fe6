import type { MeasuredRows } from "./figureRows";

const PLACED =
  "Sessions are simulated at the source's counts of prompts and loading times, engines as slow as the source's on MMLU-Pro, lengths drawn around its means; lengths of the other benchmarks are scaled to round-robin's time. Schedules of figures 5 and 6 are planned with a profile and timed on engines that deviate from it. Four A100 are not here.";
const GATED =
  "The source's answers are not public: ours replays gates on ten triples of models with public answers to gsm and crux; what a named model makes of these as the aggregator is modelled from its own answer and theirs.";
const AGGREGATOR =
  "The aggregator, which the source does not name, is simulated with engines slowed down to its whole stage on MMLU-Pro, all of its answers ending; where 3 % to split questions run on, the speed-up is smaller.";
const PAGE = "The tables of bench/results/mosaic-placement.md have it, each beside the source's value.";

/** MOSAIC: placements of experts on the source's instances, and gates on published answers. */
export const mosaicRows: readonly MeasuredRows[] = [
  { figure: "1", difference: "Lengths of the source's models are inputs here." },
  {
    figure: "3",
    rows: "six reasoning models",
    benchmark: "ensemble instances, six reasoning models",
    difference: `Ours is how many times faster data-concurrent is (the source: 1.10). The pool is published in part, the order of models is not: ours is the mean over all orders. ${PLACED}`,
  },
  {
    figure: "3",
    rows: "six light models",
    benchmark: "ensemble instances, six light models",
    difference: `Ours is how many times faster data-concurrent is (the source: 0.71). The pool is published in part, the order of models is not: ours is the mean over all orders. ${PLACED}`,
  },
  { figure: "3", rows: "quarter shard", benchmark: "ensemble instances, small shards", difference: PLACED },
  { figure: "3", difference: PAGE },
  { figure: "table 1", rows: "tau 1: accuracy", benchmark: "gate replay, mean accuracy changed at tau 1", difference: GATED },
  { figure: "table 1", rows: "tau 1: skipped", benchmark: "gate replay, skipped at tau 1", difference: GATED },
  { figure: "table 1", rows: "tau 2/3: accuracy", benchmark: "gate replay, mean accuracy changed at tau 2/3", difference: GATED },
  { figure: "table 1", rows: "tau 2/3: skipped", benchmark: "gate replay, skipped at tau 2/3", difference: GATED },
  { figure: "table 1", difference: `${GATED} Accuracies are tables of bench/results/mosaic-gates.md.` },
  { figure: "5", rows: "MMLU-Pro", benchmark: "ensemble instances, MMLU-Pro", difference: PLACED },
  { figure: "5", rows: "MedMCQA", benchmark: "ensemble instances, MedMCQA", difference: PLACED },
  { figure: "5", rows: "GPQA", benchmark: "ensemble instances, GPQA", difference: PLACED },
  {
    figure: "6",
    rows: "MMLU-Pro: end to end, speed-up",
    benchmark: "ensemble instances, end to end, MMLU-Pro",
    difference: `${PLACED} ${AGGREGATOR}`,
  },
  {
    figure: "6",
    rows: "MedMCQA: end to end, speed-up",
    benchmark: "ensemble instances, end to end, MedMCQA",
    difference: `${PLACED} ${AGGREGATOR}`,
  },
  {
    figure: "6",
    rows: "GPQA: end to end, speed-up",
    benchmark: "ensemble instances, end to end, GPQA",
    difference: `${PLACED} ${AGGREGATOR}`,
  },
  { figure: "6", difference: PAGE },
  { figure: "7", difference: "The source's ratio is an input of the aggregator's time here." },
  { figure: "table 4", difference: "Ours has ten seeds of lengths and engines, whose intervals are those of figure 5." },
  { figure: "text", rows: "MMLU-Pro: aggregator", benchmark: "ensemble instances, aggregator, MMLU-Pro", difference: AGGREGATOR },
  { figure: "text", rows: "MedMCQA: aggregator", benchmark: "ensemble instances, aggregator, MedMCQA", difference: AGGREGATOR },
  { figure: "text", rows: "GPQA: aggregator", benchmark: "ensemble instances, aggregator, GPQA", difference: AGGREGATOR },
];
