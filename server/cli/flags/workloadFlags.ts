import { createReadStream, existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { type Command, Option } from "commander";
import { cardsFile, readCardsFile } from "@/server/contracts/engine/cardsFile";
import type { Outcome } from "@/server/contracts/studio";
import { studioSettings } from "@/server/lib/studioSettings";
import { importArrivals } from "@/server/planning/imports/importArrivals";
import { importOutcomes } from "@/server/planning/imports/importOutcomes";
import { importWorkloadLines } from "@/server/planning/imports/importWorkloadLines";
import type { CsvSource } from "@/server/planning/imports/readCsv";
import { unknownModels } from "@/server/planning/imports/surveyWorkload";
import { answerParts, type ComparedAnswers, type ConfidenceMeasure, confidenceMeasures } from "@/solver/gates/gateDocument";
import type { UserCards } from "@/solver/hardware/cardSchema";
import { type CardCatalogue, cardOf, catalogueOf } from "@/solver/hardware/catalogue";
import { buildWorkload } from "@/solver/workload/buildWorkload";
import type { Workload, WorkloadOrigin } from "@/solver/workload/workload";
import { must, refuse } from "./exitCodes";
import { aliasFlag, listFlag, numberFlag, samplesFlag, USUAL_TEMPERATURE } from "./flagValues";

export interface WorkloadFlags {
  readonly workload?: string;
  readonly outcomes?: string;
  readonly family?: string;
  readonly tasks?: readonly string[];
  readonly arrivals?: string;
  readonly models: Readonly<Record<string, string>>;
  readonly judgeAuc?: number;
  readonly confidenceMeasure?: ConfidenceMeasure;
  readonly agreementPeers?: readonly string[];
  readonly agreementSamples?: NonNullable<ComparedAnswers["samples"]>;
  readonly agreementAnswer?: ComparedAnswers["answer"];
  readonly cards?: string;
  readonly seed: number;
}

export const CARDS_FLAG = ["--cards <file>", "JSON of your own model and GPU cards (default: cards.json in the state directory)"] as const;

/** Adds the flags that name a workload's files. */
export const withWorkloadFlags = (command: Command): Command =>
  command
    .option("--workload <file>", "a workload as the studio exports it (JSONL); takes the place of the flags below, except --cards")
    .option("--outcomes <file>", "CSV of outcomes: task, metric, prompt_id, family, model, score, out_tok ...")
    .option("--family <name>", "family of models in the table (needed when it has several)")
    .option("--tasks <list>", "tasks to keep, comma separated (default: all of the family)", listFlag)
    .option("--arrivals <file>", "CSV of arrivals with a column TIMESTAMP (default: generated bursts)")
    .option("--models <pair>", "'table name=card' for a model the alias table lacks; may be repeated", aliasFlag, {})
    .option(
      "--judge-auc <auc>",
      "model the judge with this reliability (default: measured scores, else 0.8)",
      numberFlag({ min: 0.5, max: 1 }),
    )
    .addOption(
      new Option("--confidence-measure <measure>", "what the column confidence of --outcomes holds (default: minimum)").choices(
        confidenceMeasures,
      ),
    )
    .option("--agreement-peers <list>", "models whose answers the column agreement of --outcomes compares with, comma separated", listFlag)
    .option(
      "--agreement-samples <n[@temperature]>",
      `further answers of the same model that it compares with (temperature: ${USUAL_TEMPERATURE})`,
      samplesFlag,
    )
    .addOption(
      new Option(
        "--agreement-answer <part>",
        "the part of answers that it compares, and that --confidence-measure answer-span reads (default: whole)",
      ).choices(answerParts),
    )
    .option(...CARDS_FLAG)
    .option("--seed <n>", "seeds every draw", numberFlag({ min: 0, max: 2 ** 31 - 1, whole: true }), 1);

/** Reads the files in the flags into a workload, or states the problem and its file in one sentence. */
export async function readWorkload(flags: WorkloadFlags, { models }: CardCatalogue): Promise<Outcome<{ readonly workload: Workload }>> {
  if (flags.workload !== undefined && flags.outcomes !== undefined) {
    return { ok: false, message: "--workload and --outcomes: give one of them, a workload holds its outcomes." };
  }
  if (flags.workload !== undefined) return readWorkloadFile(flags.workload, models);
  if (flags.outcomes === undefined) return { ok: false, message: "--outcomes <file> or --workload <file> is missing." };
  const unknownCard = Object.values(flags.models).find((card) => cardOf(models, card) === undefined);
  if (unknownCard !== undefined) {
    return { ok: false, message: `--models: there is no model card "${unknownCard}"; known: ${Object.keys(models).join(", ")}.` };
  }
  const outcomes = await openFile(flags.outcomes, (source) =>
    importOutcomes(source, { family: flags.family ?? null, tasks: flags.tasks ?? [], aliases: flags.models, models }, statedBy(flags)),
  );
  if (!outcomes.ok) return outcomes;
  const arrivals = flags.arrivals === undefined ? null : await openFile(flags.arrivals, importArrivals);
  if (arrivals !== null && !arrivals.ok) return arrivals;
  const name = `${outcomes.family} ${outcomes.tasks.join("+")}`;
  const workload = buildWorkload({ name, outcomes, arrivals, judgeAuc: flags.judgeAuc ?? null, seed: flags.seed });
  return { ok: true, workload };
}

function statedBy({
  confidenceMeasure: measure,
  agreementPeers,
  agreementSamples,
  agreementAnswer,
}: WorkloadFlags): Pick<WorkloadOrigin, "confidence" | "agreement"> {
  const span = measure === "answer-span" && agreementAnswer !== undefined ? { answer: agreementAnswer } : {};
  // A part alone says what answer-span reads.
  const compares =
    agreementPeers !== undefined || agreementSamples !== undefined || (agreementAnswer !== undefined && measure !== "answer-span");
  return {
    ...(measure === undefined ? {} : { confidence: { measure, ...span } }),
    ...(compares && {
      agreement: {
        answer: agreementAnswer ?? "whole",
        ...(agreementSamples === undefined ? {} : { samples: agreementSamples }),
        ...(agreementPeers === undefined ? {} : { peers: [...agreementPeers] }),
      },
    }),
  };
}

async function readWorkloadFile(path: string, models: CardCatalogue["models"]): Promise<Outcome<{ readonly workload: Workload }>> {
  const read = await openFile(path, importWorkloadLines);
  if (!read.ok) return read;
  const unknown = unknownModels(read.workload, models);
  return unknown === null ? read : { ok: false, message: unknown };
}

/**
 * The cards in the flags, or those of the state directory.
 * @throws Refusal if a named file does not exist.
 */
export function readCards({ cards: named }: Pick<WorkloadFlags, "cards">): {
  readonly userCards: UserCards;
  readonly catalogue: CardCatalogue;
} {
  if (named !== undefined && !existsSync(named)) refuse(`--cards: ${named} is no file that can be read.`);
  const { cards } = must(readCardsFile(named ?? cardsFile(studioSettings(process.env).stateDir)));
  return { userCards: cards, catalogue: catalogueOf(cards) };
}

type Refused = { readonly ok: false; readonly message: string };

/** The result of `read` on a file, or the sentence that it does not exist. */
export async function openFile<Result>(path: string, read: (source: CsvSource) => Promise<Result>): Promise<Result | Refused> {
  const found = await stat(path).catch(() => null);
  if (found === null || !found.isFile()) return { ok: false, message: `${path} is no file that can be read.` };
  return read({ name: basename(path), stream: createReadStream(path) });
}

/**
 * The result of `read` on a file.
 * @throws Refusal if it does not exist, or cannot be read.
 */
export const readFile = async <Read extends { readonly ok: true } | Refused>(path: string, read: (source: CsvSource) => Promise<Read>) =>
  must<Read | Refused>(await openFile(path, read));
