import { createReadStream, existsSync } from "node:fs";
import { basename, join } from "node:path";
import { readWorkload } from "@/server/cli/flags/workloadFlags";
import { readCsv } from "@/server/planning/imports/readCsv";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import type { Workload } from "@/solver/workload/workload";

/** The location of published measurements, if any. */
export const data = join(process.env.WEIR_ROOT ?? process.cwd(), "..", "shared", "data");
export const OUTCOMES = join(data, "quality", "cascade_outcomes.csv");
/** Texts of the prompts of OUTCOMES. */
export const PROMPTS = join(data, "quality", "prompts.csv");
export const ARRIVALS = join(data, "traces", "AzureLLMInferenceTrace_conv.csv");

let asked = false;

/** Whether the outcomes and arrivals for comparisons are available; reports once that they are not. */
export function dataPresent(): boolean {
  const present = existsSync(OUTCOMES) && existsSync(ARRIVALS);
  if (!present && !asked) process.stderr.write(`Skipped: comparisons with baselines need ${OUTCOMES} and ${ARRIVALS}\n`);
  asked = true;
  return present;
}

/** One column of the table of prompts, by prompt id. */
export async function promptColumn(name: string): Promise<ReadonlyMap<string, string>> {
  const values = new Map<string, string>();
  let [idAt, valueAt] = [-1, -1];
  const read = await readCsv(
    { name: basename(PROMPTS), stream: createReadStream(PROMPTS) },
    {
      header(names) {
        [idAt, valueAt] = [names.indexOf("prompt_id"), names.indexOf(name)];
        return idAt < 0 || valueAt < 0 ? `no columns prompt_id and ${name}` : null;
      },
      row(cells) {
        values.set(cells[idAt] ?? "", cells[valueAt] ?? "");
        return null;
      },
    },
  );
  if (!read.ok) throw new Error(read.message);
  return values;
}

/** Real outcomes of a family on the arrivals of the Azure conversation trace, with a judge modelled at an AUC. */
export async function workloadOf(of: {
  readonly family: string;
  readonly tasks: readonly string[];
  readonly judgeAuc: number;
  /** Of the judge's noise and of what is drawn of the workload; left out: 1. */
  readonly seed?: number;
}): Promise<Workload> {
  const read = await readWorkload({ seed: 1, ...of, outcomes: OUTCOMES, arrivals: ARRIVALS, models: {} }, catalogueOf(noUserCards));
  if (!read.ok) throw new Error(read.message);
  return read.workload;
}
