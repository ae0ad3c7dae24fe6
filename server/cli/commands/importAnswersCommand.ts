import { createReadStream, existsSync } from "node:fs";
import { basename } from "node:path";
import { createGunzip } from "node:zlib";
import type { Command } from "commander";
import { keepAnswers } from "@/server/api/ensembles/keepAnswers";
import { importAnswers } from "@/server/planning/imports/importAnswers";
import { EXIT, type ExitCode, must, refuse } from "../flags/exitCodes";
import { withStore } from "../flags/withStore";

interface AnswerFlags {
  readonly of: readonly string[];
  readonly sample: string;
}

/** Most models of one sample: sixteen experts and an aggregator. */
const mostModels = 17;

/** `weir import answers`: stores a table of labelled answers of any size as a sample in this machine's studio. */
export function addImportAnswersCommand(importing: Command, onExit: (code: ExitCode) => void): void {
  importing
    .command("answers <file>")
    .description("keep a CSV of labelled answers (prompt_id, model, correct, answer, out_tok; .gz too) as a sample, to choose a gate on")
    .requiredOption("--of <list>", "models of it, comma separated, 17 at most", (list: string) =>
      list.split(",").map((model) => model.trim()),
    )
    .requiredOption("--sample <name>", "the sample's name")
    .action(async (file: string, flags: AnswerFlags) => onExit(await importSample(file, flags)));
}

async function importSample(file: string, { of: models, sample: name }: AnswerFlags): Promise<ExitCode> {
  if (!existsSync(file)) return refuse(`There is no file ${file}.`);
  if (models.length < 2 || models.length > mostModels) return refuse(`--of names ${models.length} models: name 2 to ${mostModels}.`);
  const twice = models.find((model, at) => models.indexOf(model) !== at);
  if (twice !== undefined) return refuse(`--of names ${twice} twice: name each model once.`);
  const bytes = createReadStream(file);
  const stream = file.endsWith(".gz") ? bytes.pipe(createGunzip()) : bytes;
  const { sample, notes } = must(await importAnswers({ name: basename(file), stream }, models));
  const taken = { sample, origin: "uploaded" as const, notes: [`Of ${basename(file)}.`, ...notes] };
  for (const said of notes) process.stderr.write(`${said}\n`);
  process.stdout.write(`${await withStore((store) => keepAnswers(store, taken, { name, actor: "command line" }))}\n`);
  return EXIT.done;
}
