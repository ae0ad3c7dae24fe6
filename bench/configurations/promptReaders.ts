import { mean } from "@/solver/numeric/quantile";
import { ladders } from "../aragog/outcomes";
import type { Benchmark, Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { e5Small, embeddingsOf, encoderFolder, miniLm } from "../lib/encoded";
import { once } from "../lib/once";
import { trainedReading } from "../lib/readings";
import { writeResults, writeTables } from "../lib/results";
import { table } from "../lib/tables";
import { documents, type LadderName, splitRows } from "./cases";
import { boundFigures, type ReaderFigures, readerFigures, someRows } from "./readers";

/** The ladders of the race. */
const measuredLadders = ladders.filter(({ family, task }) => (task === "gsm" ? family === "Gemma-2-it" : family === "Qwen2.5-Instruct"));

/** The split of the prompts. */
const SEED = 1;

/** Shares of the training prompts of the learning curve, and its workflows. */
const SHARES = [0.25, 0.5, 1];
const CURVE = ["self-refine", "voting"];

const ENCODERS = [miniLm, e5Small].filter((addOn) => encoderFolder(addOn) !== null);
const WORDS = "words";
const BOUND = "any reader of prompts, at most";

/** One reader's figures in one case. */
interface Row {
  readonly workflow: string;
  readonly ladder: LadderName;
  readonly reader: string;
  /** Share of the training prompts. */
  readonly share: number;
  readonly figures: ReaderFigures;
}

const measured = once(async (): Promise<readonly Row[]> => {
  const rows: Row[] = [];
  for (const ladder of measuredLadders) {
    for (const document of documents) {
      const split = await splitRows(ladder, document, SEED);
      const own = { workflow: document.name, ladder };
      const shares = CURVE.includes(document.name) ? SHARES : [1];
      for (const encoder of [null, ...ENCODERS]) {
        const embeddings = encoder === null ? null : await embeddingsOf(split.words, encoder);
        for (const share of encoder === e5Small ? [1] : shares) {
          const reading = trainedReading(someRows(split.learnt, share), embeddings, SEED);
          rows.push({ ...own, share, reader: encoder?.name ?? WORDS, figures: readerFigures(reading, split.left) });
        }
      }
      rows.push({ ...own, share: 1, reader: BOUND, figures: boundFigures(split) });
      process.stderr.write(`readers of prompts: ${document.name}, ${ladder.family} on ${ladder.task}\n`);
      // After every case: a run that is stopped has shown the cases before.
      writeResults("prompt-readers", rows);
      writeTables("prompt-readers", [
        caseTable(rows),
        "By the share of the training prompts, means over self-refine and voting:",
        curveTable(rows),
      ]);
    }
  }
  return rows;
});

const READERS = [WORDS, ...ENCODERS.map(({ name }) => name), BOUND];

const percent = (share: number): string => (Number.isNaN(share) ? "-" : `${(100 * share).toFixed(1)} %`);

function cellOf(rows: readonly Row[]): string {
  if (rows.length === 0) return "-";
  const over = (of: keyof ReaderFigures): number => mean(rows.map(({ figures }) => figures[of]).filter((value) => !Number.isNaN(value)));
  return `${over("auc").toFixed(2)} / ${percent(over("precision"))} / ${percent(over("recall"))} / ${over("meanLoss").toFixed(1)}`;
}

/** AUC, precision, recall and mean loss by case and reader, and their means over the cases. */
function caseTable(rows: readonly Row[]): string {
  const whole = rows.filter(({ share }) => share === 1);
  const lineOf = (workflow: string, answers: string, own: readonly Row[]): readonly string[] => [
    workflow,
    answers,
    ...READERS.map((reader) => cellOf(own.filter((row) => row.reader === reader))),
  ];
  const lines = documents.flatMap(({ name }) =>
    measuredLadders.flatMap((ladder) => {
      const own = whole.filter((row) => row.workflow === name && row.ladder === ladder);
      return own.length === 0 ? [] : [lineOf(name, `${ladder.family}, ${ladder.task}`, own)];
    }),
  );
  return table(["workflow", "answers", ...READERS], [...lines, lineOf("mean", "", whole)]);
}

function curveTable(rows: readonly Row[]): string {
  const own = rows.filter(({ workflow }) => CURVE.includes(workflow));
  return table(
    ["reader", ...SHARES.map(percent)],
    [WORDS, miniLm.name].map((reader) => [
      reader,
      ...SHARES.map((share) => cellOf(own.filter((row) => row.reader === reader && row.share === share))),
    ]),
  );
}

const meanOf = (rows: readonly Row[], reader: string, of: keyof ReaderFigures): number =>
  mean(
    rows
      .filter((row) => row.reader === reader && row.share === 1)
      .map(({ figures }) => figures[of])
      .filter((value) => !Number.isNaN(value)),
  );

async function recall(): Promise<Measurement> {
  const rows = await measured();
  const each = READERS.map(
    (reader) =>
      `${reader} ${percent(meanOf(rows, reader, "recall"))} (AUC ${meanOf(rows, reader, "auc").toFixed(2)}, precision ${percent(meanOf(rows, reader, "precision"))})`,
  );
  return {
    figure: 100 * meanOf(rows, miniLm.name, "recall"),
    unit: "% of the accurate",
    detail: `accepted on held-out prompts by a network of one hidden layer on all-MiniLM-L6-v2's embeddings, mean over ${documents.length} workflows and ${measuredLadders.length} ladders, one split, at the threshold that loses 2 points at most; ${each.join("; ")}; the source's recall 71 to 77 %, precision 94 to 96 %`,
  };
}

async function ofBound(): Promise<Measurement> {
  const rows = await measured();
  return {
    figure: (100 * meanOf(rows, miniLm.name, "recall")) / meanOf(rows, BOUND, "recall"),
    unit: "% of what any reader could",
    detail: `recall on an encoder's embeddings over that of a reader who knows which models' recorded answers to the prompt are right, means over the same cases; that one has ${percent(meanOf(rows, BOUND, "recall"))}`,
  };
}

/** Heads on an encoder's embeddings beside those on words, and what the modelled outcomes let any reader of prompts know. */
export const promptReaderBenchmarks: readonly Benchmark[] =
  dataPresent() && encoderFolder() !== null
    ? [
        { name: "prompt readers, recall on an encoder", budget: null, run: recall },
        { name: "prompt readers, recall of the most possible", budget: null, run: ofBound },
      ]
    : [];
