import { createReadStream, existsSync } from "node:fs";
import { basename } from "node:path";
import type { Command } from "commander";
import { batchSample } from "@/server/api/ensembles/batchSample";
import { keepAnswers } from "@/server/api/ensembles/keepAnswers";
import { readJobResults } from "@/server/batches/jobResults";
import type { Store } from "@/server/store/store";
import { EXIT, type ExitCode, must, refuse } from "../flags/exitCodes";
import { withStore } from "../flags/withStore";

interface ResultFlags {
  readonly prompts: string;
  readonly ensemble: string;
  readonly sample: string;
}

/** `weir import results`: converts the output of a job file's workers to a sample of answers in this machine's studio. */
export function addImportResultsCommand(importing: Command, onExit: (code: ExitCode) => void): void {
  importing
    .command("results <file...>")
    .description("keep what the workers of a batch's job file wrote as a sample of answers, to choose a gate on")
    .requiredOption("--prompts <id>", "sample of prompts that they were asked, with references")
    .requiredOption("--ensemble <name>", "kept ensemble that they are the experts of; its extraction reads the votes")
    .requiredOption("--sample <name>", "the sample's name")
    .action(async (files: readonly string[], flags: ResultFlags) => onExit(await importResults(files, flags)));
}

async function importResults(files: readonly string[], flags: ResultFlags): Promise<ExitCode> {
  const missing = files.find((file) => !existsSync(file));
  if (missing !== undefined) return refuse(`There is no file ${missing}.`);
  return withStore((store) => keepResults(files, flags, store));
}

async function keepResults(files: readonly string[], { prompts, ensemble, sample: name }: ResultFlags, store: Store): Promise<ExitCode> {
  const kept = store.ensembles.find(ensemble);
  if (kept === null) return refuse(`There is no ensemble ${ensemble}.`);
  if (store.prompts.get(prompts) === null) return refuse(`There is no sample of prompts ${prompts}.`);
  const sources = files.map((file) => ({ name: basename(file), stream: createReadStream(file) }));
  const { questions, failed } = must(await readJobResults(sources, kept.ensemble.extraction));
  const batch = { name, ensemble: kept.ensemble, promptSetId: prompts, answered: questions, prompts: store.prompts };
  const made = must(await batchSample(batch));
  const failures = failed === 0 ? [] : [`Requests of the job that failed and were left out: ${failed}.`];
  const notes = [
    `Of a job's results: ${files
      .map((file) => basename(file))
      .slice(0, 5)
      .join(", ")}${files.length > 5 ? " and others" : ""}.`,
    ...made.notes,
    ...failures,
  ];
  for (const said of notes) process.stderr.write(`${said}\n`);
  process.stdout.write(`${keepAnswers(store, { sample: made.sample, origin: "batch", notes }, { name, actor: "command line" })}\n`);
  return EXIT.done;
}
