import type { MeasuredRows } from "./figureRows";

const RACE =
  "Ours is a simulated race over two ladders (Qwen2.5 3B, 7B, 32B; Gemma-2 2B, 9B, 27B) and four workflows on 8 H100s, programs drawn from public answers whose outcomes are modelled; with an oracle's sets of accurate configurations and all GPUs. The source's engines are real and its heads learnt.";
const TABLES = "The race has it: bench/results/aragog.md, as a table and not as a figure of a benchmark.";
const HEADS =
  "Ours reads features of the words of gsm and crux, which tell little of whether a configuration is right; the source's heads read an encoder's embedding, which tells no more of these (`prompt readers`).";

/** Aragog: the race against its baselines, near-monotony, its search and its heads. */
export const aragogRows: readonly MeasuredRows[] = [
  {
    figure: "7",
    rows: "upgrades of a model",
    benchmark: "configuration outcomes",
    difference:
      "Ours counts falls of 0.6 points and more, what the source's 164 prompts could show, in per cent of the upgrades (the source: 2.8 %); outcomes of programs are modelled from measured answers.",
  },
  { figure: "7", difference: "The benchmark `configuration outcomes` prints it in its details." },
  {
    figure: "8",
    benchmark: "configurations: routing time",
    difference:
      "Ours is voting's 243 configurations on one core with small heads; the source's heads have six layers on a GPU. Timed: a busy machine makes it longer.",
  },
  {
    figure: "10",
    benchmark: "rounds, utilisation beside exhaustive",
    difference: "The source shows it in a plot alone. Ours is on drawn rounds of eight requests.",
  },
  {
    figure: "12",
    rows: "throughput over per-input, least",
    benchmark: "aragog race: least, over per-input",
    as: "per cent more",
    difference: RACE,
  },
  {
    figure: "12",
    rows: "throughput over per-input, most",
    benchmark: "aragog race: most, over per-input",
    as: "per cent more",
    difference: RACE,
  },
  {
    figure: "12",
    rows: "throughput over per-workflow, least",
    benchmark: "aragog race: least, over per-workflow",
    as: "per cent more",
    difference: RACE,
  },
  {
    figure: "12",
    rows: "throughput over per-workflow, most",
    benchmark: "aragog race: most, over per-workflow",
    as: "per cent more",
    difference: RACE,
  },
  { figure: "12", difference: TABLES },
  { figure: "13", difference: TABLES },
  {
    figure: "14",
    benchmark: "aragog race: accuracy of Aragog",
    difference: `Ours is the worst case, in points above the largest models, by learnt heads. ${HEADS}`,
  },
  {
    figure: "15",
    difference:
      "Engines are simulated: no benchmark divides routing by a real end-to-end latency. `configurations: routing time` has the routing alone.",
  },
  {
    figure: "16",
    rows: "self-refine, beam 1 to 8: throughput over per-input",
    benchmark: "aragog race: beam 8, self-refine, over per-input",
    as: "per cent more",
    difference: `${RACE} Ours is at a beam of 8 without the router's GPU; a beam of 1 is in bench/results/aragog.md.`,
  },
  {
    figure: "16",
    rows: "self-refine, beam 1 to 8: throughput over per-workflow",
    benchmark: "aragog race: beam 8, self-refine, over per-workflow",
    as: "per cent more",
    difference: `${RACE} Ours is at a beam of 8 without the router's GPU; a beam of 1 is in bench/results/aragog.md.`,
  },
  {
    figure: "16",
    rows: "voting, beam 1 to 8: throughput over per-input",
    benchmark: "aragog race: beam 8, voting, over per-input",
    as: "per cent more",
    difference: `${RACE} Ours is at a beam of 8 without the router's GPU; a beam of 1 is in bench/results/aragog.md.`,
  },
  {
    figure: "16",
    rows: "voting, beam 1 to 8: throughput over per-workflow",
    benchmark: "aragog race: beam 8, voting, over per-workflow",
    as: "per cent more",
    difference: `${RACE} Ours is at a beam of 8 without the router's GPU; a beam of 1 is in bench/results/aragog.md.`,
  },
  {
    figure: "17",
    rows: "throughput over per-input",
    benchmark: "aragog race: mixed families, over per-input",
    as: "per cent more",
    difference: `${RACE} Ours mixes Llama 3.1 8B, Gemma 2 27B and Qwen2.5 32B.`,
  },
  {
    figure: "17",
    rows: "throughput over per-workflow",
    benchmark: "aragog race: mixed families, over per-workflow",
    as: "per cent more",
    difference: `${RACE} Ours mixes Llama 3.1 8B, Gemma 2 27B and Qwen2.5 32B.`,
  },
  {
    figure: "table 1",
    rows: "a, EmbeddingGemma",
    difference: "Two small encoders are compared by recall (`prompt readers`), not by the race.",
  },
  {
    figure: "table 1",
    rows: "4 GPUs, self-refine: throughput over per-input",
    benchmark: "aragog race: half the GPUs, self-refine, over per-input",
    as: "per cent more",
    difference: RACE,
  },
  {
    figure: "table 1",
    rows: "4 GPUs, self-refine: throughput over per-workflow",
    benchmark: "aragog race: half the GPUs, self-refine, over per-workflow",
    as: "per cent more",
    difference: RACE,
  },
  {
    figure: "table 1",
    rows: "4 GPUs, voting: throughput over per-input",
    benchmark: "aragog race: half the GPUs, voting, over per-input",
    as: "per cent more",
    difference: RACE,
  },
  {
    figure: "table 1",
    rows: "4 GPUs, voting: throughput over per-workflow",
    benchmark: "aragog race: half the GPUs, voting, over per-workflow",
    as: "per cent more",
    difference: RACE,
  },
  {
    figure: "table 1",
    rows: "agents share a model, self-refine: throughput over per-input",
    benchmark: "aragog race: agents share a model, self-refine, over per-input",
    as: "per cent more",
    difference: RACE,
  },
  {
    figure: "table 1",
    rows: "agents share a model, self-refine: throughput over per-workflow",
    benchmark: "aragog race: agents share a model, self-refine, over per-workflow",
    as: "per cent more",
    difference: RACE,
  },
  {
    figure: "table 1",
    rows: "agents share a model, voting: throughput over per-input",
    benchmark: "aragog race: agents share a model, voting, over per-input",
    as: "per cent more",
    difference: RACE,
  },
  {
    figure: "table 1",
    rows: "agents share a model, voting: throughput over per-workflow",
    benchmark: "aragog race: agents share a model, voting, over per-workflow",
    as: "per cent more",
    difference: RACE,
  },
  {
    figure: "table 1",
    rows: "self-refine: throughput over per-input",
    benchmark: "aragog race: self-refine, over per-input",
    as: "per cent more",
    difference: RACE,
  },
  {
    figure: "table 1",
    rows: "self-refine: throughput over per-workflow",
    benchmark: "aragog race: self-refine, over per-workflow",
    as: "per cent more",
    difference: RACE,
  },
  {
    figure: "table 1",
    rows: "voting: throughput over per-input",
    benchmark: "aragog race: voting, over per-input",
    as: "per cent more",
    difference: RACE,
  },
  {
    figure: "table 1",
    rows: "voting: throughput over per-workflow",
    benchmark: "aragog race: voting, over per-workflow",
    as: "per cent more",
    difference: RACE,
  },
  { figure: "text", difference: "`configurations: loss on held-out prompts` prints precision and recall in its details." },
];
