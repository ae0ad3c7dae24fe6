import { importServingRows } from "@/server/planning/imports/importServingRows";
import { predictServing, type ServingPrediction } from "@/solver/calibration/predictServing";
import { errorsByGroup, type GroupErrors, isMatched, unmatchedMetrics } from "@/solver/calibration/servingErrors";
import type { UnsupportedRow } from "@/solver/calibration/servingRow";
import { engineProfiles } from "@/solver/hardware/builtInProfiles";
import type { CardCatalogue } from "@/solver/hardware/catalogue";
import type { EngineLimits } from "@/solver/hardware/engineLimits";
import { type EngineProfile, type MetricErrors, profilesBySoftware, type ServingMetric } from "@/solver/hardware/engineProfile";
import { type RowProblem, rowProblemTexts } from "@/solver/workload/rowProblems";
import { bandText, METRIC_NAMES, NOT_MATCHED, seconds } from "../describe/replicaForecast";
import { textTable } from "../describe/textTable";
import { underLimits } from "../flags/engineLimitFlags";
import { EXIT, type ExitCode, refuse } from "../flags/exitCodes";
import { readFile } from "../flags/workloadFlags";

export interface RowsAsked {
  readonly file: string;
  /** Used for the runs of its engines; null: the built-in profiles only. */
  readonly profile: EngineProfile | null;
  readonly cards: CardCatalogue;
  /** Default limits of engines in rows without limits. */
  readonly limits: EngineLimits;
  readonly json: boolean;
}

/** Most distinct problems in a refusal. */
const SAID_PROBLEMS = 5;

/** Predicts every run of a table, printing each when it is done, then the unpredictable rows and the errors by group. */
export async function simulateRows({ file, profile, cards, limits, json }: RowsAsked): Promise<ExitCode> {
  const read = await readFile(file, (source) => importServingRows(source, cards));
  const { bad } = read;
  const rows = underLimits(read.rows, limits);
  if (rows.length + read.unsupported.length === 0)
    return refuse(`No row of ${read.name} could be read. ${sentences(read.name, bad).slice(0, SAID_PROBLEMS).join(" ")}`);
  const profiles = profile === null ? engineProfiles : { ...engineProfiles, ...profilesBySoftware(profile) };
  const predictions: ServingPrediction[] = [];
  const unsupported: UnsupportedRow[] = [...read.unsupported];
  const print = json ? jsonPrinter(read.name) : textPrinter(read.name);
  for (const row of rows) {
    const answer = predictServing(row, profiles[row.engine], cards);
    if (answer.outcome === "unsupported") unsupported.push(answer.unsupported);
    else {
      predictions.push(answer);
      print.row(answer, unmatchedMetrics(profiles[row.engine].errors));
    }
  }
  print.rest({ unsupported, bad, errors: errorsByGroup(predictions) });
  return EXIT.done;
}

interface Rest {
  readonly unsupported: readonly UnsupportedRow[];
  readonly bad: readonly RowProblem[];
  readonly errors: readonly GroupErrors[];
}

interface Printer {
  row(prediction: ServingPrediction, notMatched: readonly ServingMetric[]): void;
  rest(rest: Rest): void;
}

const write = (text: string): void => {
  process.stdout.write(text);
};

function jsonPrinter(name: string): Printer {
  let begun = false;
  const begin = (): string => (begun ? "," : '{"rows":[');
  return {
    row({ row: { shape, measured: _, ...row }, ...figures }, notMatched) {
      write(`${begin()}\n${JSON.stringify({ ...row, ...shape, ...figures, notMatched })}`);
      begun = true;
    },
    rest({ unsupported, bad, errors }) {
      const parts = Object.entries({ unsupported, bad: sentences(name, bad), errors }).map(
        ([key, list]) => `"${key}":${JSON.stringify(list)}`,
      );
      write(`${begun ? "" : begin()}\n],\n${parts.join(",\n")}}\n`);
    },
  };
}

function textPrinter(name: string): Printer {
  return {
    row({ row, meanTtftSeconds, meanTpotSeconds, meanE2eSeconds, errors, bands, extrapolated }, notMatched) {
      const { line, model, gpu, engine, shape, inputTokens, outputTokens, concurrency } = row;
      const pipeline = shape.pp > 1 ? ` pp${shape.pp}` : "";
      const metric = (key: ServingMetric, predicted: number): string => {
        const band = bands[key] === null ? "" : ` [${bandText(bands[key])}]`;
        return `${METRIC_NAMES[key]} ${seconds(predicted)}${band}${off(errors[key])}`;
      };
      const figures = [metric("ttft", meanTtftSeconds), metric("tpot", meanTpotSeconds), metric("endToEnd", meanE2eSeconds)];
      write(
        `${name} line ${line}: ${model} on ${gpu}, ${engine}, tp${shape.tp}${pipeline}, ${inputTokens} in, ${outputTokens} out, ${concurrency} in flight: ${figures.join(", ")}\n`,
      );
      for (const reason of extrapolated) write(`    extrapolated: ${reason}\n`);
      for (const one of notMatched) write(`    ${METRIC_NAMES[one]}: ${NOT_MATCHED}\n`);
    },
    rest({ unsupported, bad, errors }) {
      if (unsupported.length > 0) write(`\nNot predicted, ${count(unsupported.length)}:\n`);
      for (const sentence of sentences(name, unsupported)) write(`  ${sentence}\n`);
      if (bad.length > 0) write(`\nNot read, ${count(bad.length)}:\n`);
      for (const sentence of sentences(name, bad)) write(`  ${sentence}\n`);
      write(describeErrors(errors, `Errors of mean latencies on ${name}, predicted over measured`));
    },
  };
}

const sentences = (name: string, problems: readonly RowProblem[]): readonly string[] =>
  rowProblemTexts(name, problems).map((text) => `${text}.`);

const count = (rows: number): string => `${rows} row${rows === 1 ? "" : "s"}`;

/** Errors by group as a table; empty if nothing was measured. */
export function describeErrors(errors: readonly GroupErrors[], title: string): string {
  const measured = errors.filter(({ ttft, tpot, endToEnd }) => ttft !== null || tpot !== null || endToEnd !== null);
  if (measured.length === 0) return "";
  const figures = (one: MetricErrors | null) =>
    one === null ? ["-", "-"] : [`${percent(one.meanAbsolute)}${isMatched(one) ? "" : ", not matched"}`, signed(one.bias)];
  return `\n${title}:\n\n${textTable([
    ["", "rows", "TTFT", "bias", "TPOT", "bias", "end to end", "bias"],
    ...measured.map(({ group, key, rows, ttft, tpot, endToEnd }) => [
      group === "all" ? "all" : `${group} ${key}`,
      String(rows),
      ...[ttft, tpot, endToEnd].flatMap(figures),
    ]),
  ])}\n`;
}

const off = (error: number | null): string => (error === null ? "" : ` (${signed(error)})`);
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const signed = (share: number): string => `${share < 0 ? "-" : "+"}${percent(Math.abs(share))}`;
