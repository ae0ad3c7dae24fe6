import { existsSync } from "node:fs";
import { join } from "node:path";
import { importAnswers } from "@/server/planning/imports/importAnswers";
import { openText } from "@/server/prompts/openText";
import type { PromptTexts } from "@/solver/prediction/programFacts";
import { sketchOf } from "@/solver/words/sketch";
import type { OutcomeTable } from "@/solver/workload/workload";
import { data, PROMPTS, promptColumn } from "../lib/compareData";
import { promptTexts } from "../lib/ladders";
import { once } from "../lib/once";
import type { GateLadder, GateTask } from "./cases";

const fileOf = (task: GateTask): string => join(data, "quality", `answers_${task}.csv.gz`);

/** What of an answer is compared: a number, or the value that its publisher extracted as it stands. */
export const EXTRACTED = { gsm: "number", crux: "last-line" } as const;

/** Assumed where the table of prompts has no length. */
const ASSUMED_PROMPT_TOKENS = 100;

let asked = false;

/** Whether the published answers are available; reports once that they are not. */
export function answersPresent(): boolean {
  const files = [fileOf("gsm"), fileOf("crux"), PROMPTS];
  const present = files.every((file) => existsSync(file));
  if (!present && !asked) process.stderr.write(`Skipped: gates are compared on ${files.join(", ")}\n`);
  asked = true;
  return present;
}

/** A ladder's questions with the extracted answers of its two models and of the peer; arrays by question. */
export interface LadderAnswers {
  readonly ladder: GateLadder;
  readonly outcomes: OutcomeTable;
  /** Of the first model and of the peer; null where none could be extracted. */
  readonly own: readonly (string | null)[];
  readonly peer: readonly (string | null)[];
  readonly peerTokens: Int32Array;
  /** Words of the questions, as a router reads them. */
  readonly texts: PromptTexts;
}

const promptTokens = once(() => promptColumn("prompt_tok_est"));

export async function ladderAnswers(ladder: GateLadder): Promise<LadderAnswers> {
  const names = [ladder.model, ladder.next, ladder.peer];
  const file = fileOf(ladder.task);
  const read = await importAnswers({ name: file, stream: await openText(file) }, names);
  if (!read.ok) throw new Error(read.message);
  const { questionIds, models } = read.sample;
  const [own, next, peer] = names.map((name) => models.find(({ model }) => model === name));
  if (own === undefined || next === undefined || peer === undefined) throw new Error(`The answers lack a model of ${names.join(", ")}`);
  const [tokens, texts] = await Promise.all([promptTokens(), promptTexts()]);
  const inputTokens = Int32Array.from(questionIds, (id) => Number(tokens.get(id) ?? ASSUMED_PROMPT_TOKENS));
  return {
    ladder,
    outcomes: {
      promptIds: questionIds,
      categories: questionIds.map(() => ladder.task),
      inputTokens,
      models: [own, next].map(({ model, correct, outputTokens }) => {
        const label = Float64Array.from(correct, (right) => 100 * right);
        return { model, tableName: model, outputTokens, label, judged: new Float64Array(label.length) };
      }),
    },
    own: own.answers,
    peer: peer.answers,
    peerTokens: peer.outputTokens,
    texts: {
      promptTokens: inputTokens,
      sketches: questionIds.map((id) => {
        const text = texts.get(id);
        return text === undefined ? null : sketchOf(text);
      }),
    },
  };
}
