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
import type { GateLadder } from "./cases";

const ANSWERS = join(data, "quality", "answers_gsm.csv.gz");

/** Assumed where the table of prompts has no length. */
const ASSUMED_PROMPT_TOKENS = 100;

let asked = false;

/** Whether the published answers are available; reports once that they are not. */
export function answersPresent(): boolean {
  const present = [ANSWERS, PROMPTS].every((file) => existsSync(file));
  if (!present && !asked) process.stderr.write(`Skipped: gates are compared on ${ANSWERS} and ${PROMPTS}\n`);
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
  const read = await importAnswers({ name: ANSWERS, stream: await openText(ANSWERS) }, names);
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
      categories: questionIds.map(() => "gsm"),
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
