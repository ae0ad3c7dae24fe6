import { gateColumnsOf } from "@/solver/workload/gateColumns";
import type { Workload } from "@/solver/workload/workload";
import { describeColumns, workloadHash } from "./workloadCodec";

/** First thing a file of a workload says; the digit is the version of the layout. */
export const WORKLOAD_FORMAT = "weir-workload-jsonl/1";

/** Arrivals in a line. */
const ARRIVALS_A_LINE = 5000;

/**
 * A workload as lines of JSON, for other tools and other studios: what it is, then a line for each prompt, then the arrivals, some
 * thousand a line. Numbers are written whole, so that reading it back gives the same hash, which the first line names.
 */
export function* workloadLines(workload: Workload): Generator<string> {
  const { outcomes, name, seed, judge, origin, arrivalSeconds } = workload;
  yield line({
    format: WORKLOAD_FORMAT,
    name,
    seed,
    judge,
    origin,
    models: outcomes.models.map(describeColumns),
    prompts: outcomes.promptIds.length,
    arrivals: arrivalSeconds.length,
    hash: workloadHash(workload),
  });
  const names = outcomes.models.map(({ model }) => JSON.stringify(model));
  for (const [row, id] of outcomes.promptIds.entries()) {
    const models = outcomes.models.map((column, at) => {
      const further = gateColumnsOf(column).map((name) => `,"${name}":${number(column[name]?.[row])}`);
      const { outputTokens, label, judged } = column;
      return `${names[at]}:{"outputTokens":${number(outputTokens[row])},"label":${number(label[row])},"judged":${number(judged[row])}${further.join("")}}`;
    });
    const category = JSON.stringify(outcomes.categories[row]);
    const blocks = outcomes.promptBlocks === undefined ? "" : `,"promptBlocks":[${outcomes.promptBlocks[row]?.join(",") ?? ""}]`;
    yield `{"id":${JSON.stringify(id)},"category":${category},"inputTokens":${number(outcomes.inputTokens[row])}${blocks},"models":{${models.join(",")}}}\n`;
  }
  for (let from = 0; from < arrivalSeconds.length; from += ARRIVALS_A_LINE) {
    yield `{"arrivalSeconds":[${Array.from(arrivalSeconds.subarray(from, from + ARRIVALS_A_LINE), number).join(",")}]}\n`;
  }
}

const line = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** JSON.stringify drops the sign of a zero, and with it the hash. */
const number = (value: number | undefined): string => (Object.is(value, -0) ? "-0" : JSON.stringify(value));
