import type { MeasuredRows } from "./figureRows";

const RACE =
  "Ours is simulated: four L40S, programs drawn from public answers to gsm and crux with the lengths of one model, Poisson arrivals, the geometric mean over queueing of 20, 50 and 80 %. The source serves nine data sets on four A40, and its range is over loads.";
const TABLES = "The race has it: bench/results/kairos.md, as a table and not as a figure of a benchmark.";
const THIRTEEN = "No answers of the 13B model are public: it is assumed to write as much as the 8B model.";

/** Latencies of the source's figure, over both baselines. */
const latencies = (
  { figure, source, names }: { readonly figure: string; readonly source: string; readonly names: readonly string[] },
  measured: string,
  difference: string,
) =>
  ["Parrot", "Ayo"].flatMap((reference) =>
    names.map(
      (name): MeasuredRows => ({
        ...{ figure, rows: `${source}, ${name} latency under ${reference}'s` },
        ...{ benchmark: `kairos: ${name} latency over ${reference}'s, ${measured}`, as: "per cent less", difference },
      }),
    ),
  );

const ALL = ["mean", "P90", "P95", "P99"];

/** Kairos: the race against Parrot and Ayo, the order's accuracy, and what priorities cost. */
export const kairosRows: readonly MeasuredRows[] = [
  { figure: "table 1", difference: "It is a survey of repositories." },
  {
    figure: "9",
    benchmark: "kairos: requests preempted under Parrot, 8B on 24 GB",
    difference:
      "Parrot takes the replicas in turn. Ours is the largest share over the three loads, simulated on GPUs of 24 GB, where memory limits a batch.",
  },
  ...latencies(
    { figure: "14", source: "single applications", names: ["mean", "P90"] },
    "single applications, 8B",
    `${RACE} Ours is the mean over the three applications.`,
  ),
  ...latencies({ figure: "15", source: "co-located, 8B", names: ALL }, "co-located, 8B", RACE),
  ...latencies({ figure: "17", source: "co-located, 13B", names: ALL }, "co-located, 13B", `${RACE} ${THIRTEEN}`),
  {
    figure: "16",
    rows: "Kairos",
    benchmark: "order accuracy",
    difference:
      "Ours is over recorded runs of ChatDev and the source's applications drawn from answers; no order of agents does better there than the source's does (the column `any order of agents` of bench/results/kairos.md).",
  },
  { figure: "16", difference: "The benchmark `order accuracy` prints it in its details." },
  {
    figure: "18",
    rows: "latency without priority",
    benchmark: "kairos: latency without priority, 8B",
    difference: `${RACE} The source's is at 50 % alone.`,
  },
  {
    figure: "18",
    rows: "latency without packing",
    benchmark: "kairos: latency without packing, 8B",
    difference: `${RACE} The source's is at 50 % alone. Memory of an L40S is never full here, so that packing has nothing to save.`,
  },
  { figure: "18", difference: TABLES },
  {
    figure: "text",
    rows: "priorities of 10 agents",
    benchmark: "agent priorities, 10 agents",
    as: "seconds",
    difference: "Ours is one core, with 33 quantiles an agent. Timed: a busy machine makes it longer.",
  },
  {
    figure: "text",
    rows: "priorities of 5000 agents",
    benchmark: "agent priorities, 5000 agents",
    as: "seconds",
    difference: "Ours is one core, with 33 quantiles an agent. Timed: a busy machine makes it longer.",
  },
  { figure: "text", difference: "`one routing decision, order workflow and place time-slots` of `npm run bench` has both together." },
];
