import { mean } from "@/solver/numeric/quantile";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { encodeArtefact } from "@/solver/prediction/artefact";
import type { HeadBank } from "@/solver/prediction/headBank";
import { ladders } from "../aragog/outcomes";
import { atLeast, atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { writeResults, writeTables } from "../lib/results";
import { table } from "../lib/tables";
import { chainOfEight, documents, type HeadCase, headCase, type LadderName } from "./cases";
import { type HeadFigures, headFigures } from "./figures";
import { type RoutingTimes, routingTimes } from "./routingTime";

/** Splits of the prompts over which figures are averaged. */
const SEEDS = [1, 2, 3];

/** Number of features of the source's heads: its encoder's embedding. */
const WIDE = 1024;

/** Recall near the source's 71 to 77 %: where less is accepted, one rejection prunes much. */
const TELLING = 0.6;

/** Number of requests whose configurations are searched together. */
const BATCHES = [1, 32];

interface Row {
  readonly ladder: LadderName;
  readonly workflow: string;
  readonly figures: readonly HeadFigures[];
  readonly trainingSeconds: readonly number[];
}

/** Searches of every workflow over every ladder, and of the stretch over one, measured once for all benchmarks. */
const measured = once(async (): Promise<readonly Row[]> => {
  const rows: Row[] = [];
  for (const document of documents) for (const ladder of ladders) rows.push(await rowOf(ladder, document, SEEDS));
  const [first] = ladders;
  rows.push(await rowOf(first, chainOfEight, SEEDS.slice(0, 1)));
  writeResults("configurations", rows);
  writeTables("configurations", [table(columns, rows.map(cells))]);
  return rows;
});

async function rowOf(ladder: LadderName, document: WorkflowDocument, seeds: readonly number[]): Promise<Row> {
  const cases: HeadCase[] = [];
  for (const seed of seeds) cases.push(await headCase(ladder, document, seed));
  process.stderr.write(`configurations: ${document.name}, ${ladder.family} on ${ladder.task}\n`);
  return {
    ...{ ladder, workflow: document.name, figures: cases.map(headFigures) },
    trainingSeconds: cases.map(({ trainingSeconds }) => trainingSeconds),
  };
}

const columns = [
  ...["workflow", "answers", "configurations", "accurate", "AUC", "threshold", "precision", "recall", "loss", "loss, cheapest"],
  ...["heads evaluated", "rejecting never evaluated", "accepting found", "training, s"],
];

/** Mean over the splits with a non-zero denominator. */
const over = (figures: readonly HeadFigures[], of: keyof HeadFigures): number =>
  mean(figures.map((each) => each[of]).filter((value) => !Number.isNaN(value)));

function cells({ ladder, workflow, figures, trainingSeconds }: Row): readonly string[] {
  const share = (of: keyof HeadFigures): string => {
    const value = over(figures, of);
    return Number.isNaN(value) ? "-" : `${(100 * value).toFixed(1)} %`;
  };
  return [
    ...[
      workflow,
      `${ladder.family}, ${ladder.task}`,
      String(figures[0]?.configurations),
      share("accurate"),
      over(figures, "auc").toFixed(2),
    ],
    ...[over(figures, "threshold").toFixed(2), share("precision"), share("recall")],
    ...[over(figures, "meanLoss").toFixed(2), over(figures, "cheapestLoss").toFixed(2)],
    ...[share("evaluatedShare"), share("neverEvaluated"), share("found"), mean(trainingSeconds).toFixed(1)],
  ];
}

const percent = (value: number): string => (100 * value).toFixed(1);

async function neverEvaluated(): Promise<Measurement> {
  const rows = await measured();
  const all = rows.flatMap(({ figures }) => figures);
  const each = rows.map(({ figures }) => over(figures, "neverEvaluated")).filter((value) => !Number.isNaN(value));
  const telling = rows.filter(({ figures }) => over(figures, "recall") >= TELLING).map(({ figures }) => over(figures, "neverEvaluated"));
  return {
    figure: 100 * Math.min(...each),
    unit: "% of the rejecting heads",
    detail: `never evaluated, least of ${each.length} workflows and ladders of real answers whose outcomes are modelled, ${SEEDS.length} splits: ${each.filter((share) => share < 0.5).length} are below 50, the mean is ${percent(mean(each))} and the most ${percent(Math.max(...each))}; where heads accept as many as the source's (a recall of ${100 * TELLING} % and more) ${telling.map(percent).join(", ")}; ${percent(over(all, "evaluatedShare"))} % of all heads evaluated, ${percent(over(all, "found"))} % of the accepting found`,
  };
}

async function acceptingFound(): Promise<Measurement> {
  const each = (await measured()).map(({ figures }) => over(figures, "found")).filter((value) => !Number.isNaN(value));
  return {
    figure: 100 * Math.min(...each),
    unit: "% of the accepting heads",
    detail: `found by the search, least of ${each.length} workflows and ladders in which heads accept, on held-out prompts; the mean is ${percent(mean(each))}`,
  };
}

async function accuracy(): Promise<Measurement> {
  const rows = await measured();
  const all = rows.flatMap(({ figures }) => figures);
  const within = (of: "meanLoss" | "cheapestLoss"): string =>
    `${all.filter((figures) => figures[of] <= 2).length} of ${all.length} (the worst ${Math.max(...all.map((figures) => figures[of])).toFixed(1)})`;
  const recalls = rows.map(({ figures }) => over(figures, "recall"));
  return {
    figure: Math.max(...rows.map(({ figures }) => over(figures, "meanLoss"))),
    unit: "points of 100",
    detail: `lost against the largest models by what heads accept on held-out prompts, mean over it, in the worst of ${rows.length} workflows and ladders; splits that lose 2 at most: in the mean ${within("meanLoss")}, where always the cheapest is taken ${within("cheapestLoss")}; precision ${percent(over(all, "precision"))} %, recall ${percent(mean(recalls))} % (from ${percent(Math.min(...recalls))} to ${percent(Math.max(...recalls))}), AUC ${over(all, "auc").toFixed(2)}; the source's precision 94 to 96 %, recall 71 to 77 %`,
  };
}

const timeColumns = [
  ...[
    "workflow",
    "configurations",
    "numbers a head reads",
    "batch",
    "reading",
    "all, one by one",
    "all, fused",
    "pruned, one by one",
    "pruned, fused",
  ],
  ...["pruning saves", "fusing then saves", "against all, fused"],
];

function timeCells(document: WorkflowDocument, heads: Pick<HeadBank, "bias" | "features">, times: RoutingTimes): readonly string[] {
  const ms = (value: number): string => value.toFixed(3);
  const saves = (from: number, to: number): string => `${(100 * (1 - to / from)).toFixed(0)} %`;
  const { batch, reading, exhaustive, exhaustiveFused, pruned, prunedFused } = times;
  return [
    ...[document.name, String(heads.bias.length + 1), String(heads.features), String(batch)],
    ...[reading, exhaustive, exhaustiveFused, pruned, prunedFused].map(ms),
    ...[saves(exhaustive, pruned), saves(pruned, prunedFused), `${(prunedFused / exhaustiveFused).toFixed(1)} x`],
  ];
}

/** Time of a search relative to evaluating all heads, in batches of one request and of many. */
async function times(): Promise<Measurement> {
  const lines: (readonly string[])[] = [];
  let five = Number.NaN;
  let eight = "";
  for (const document of [...documents, chainOfEight]) {
    const of = await headCase(ladders[0], document, 1);
    const { heads } = of.artefact;
    const widths = document.name === "voting" || document === chainOfEight ? [heads.features, WIDE] : [heads.features];
    for (const features of widths) {
      for (const batch of BATCHES) {
        const found = routingTimes(of, batch, features);
        lines.push(timeCells(document, { ...heads, features }, found));
        if (document.name === "voting" && batch === 1 && features === heads.features) five = found.prunedFused + found.reading;
      }
    }
    if (document === chainOfEight)
      eight = `3^8 trained in ${of.trainingSeconds.toFixed(0)} s of processor, ${(encodeArtefact(of.artefact).length / 1e6).toFixed(1)} MB`;
  }
  writeTables("configurations-time", [table(timeColumns, lines)]);
  return {
    figure: five,
    unit: "ms a request",
    detail: `features of a sketched prompt and the search of voting's 243 configurations, one request at a time on one core, median; ${eight}; all four ways in bench/results/configurations-time.md; the source 43 to 45 ms on a GPU, of 91 to 196`,
  };
}

/** Predictors of accurate configurations on modelled outcomes of real answers; nothing where these are not available. */
export const configurationBenchmarks: readonly Benchmark[] = dataPresent()
  ? [
      {
        name: "configurations: routing time",
        budget: atMost(0.2, "the search evaluates heads one by one, or reads the prompt for each"),
        run: times,
      },
      {
        name: "configurations: rejecting heads never evaluated",
        budget: atLeast(50, "one rejection prunes little, as where heads accept nearly everything"),
        run: neverEvaluated,
      },
      {
        name: "configurations: accepting heads found",
        budget: atLeast(98, "the search prunes configurations whose own heads accept, as where heads are not monotone"),
        run: acceptingFound,
      },
      {
        name: "configurations: loss on held-out prompts",
        budget: atMost(2, "thresholds that keep the loss on training prompts do not on others"),
        run: accuracy,
      },
    ]
  : [];
