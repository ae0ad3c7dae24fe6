import { existsSync } from "node:fs";
import { join } from "node:path";
import { importAnswers } from "@/server/planning/imports/importAnswers";
import { openText } from "@/server/prompts/openText";
import type { AnswerSample } from "@/solver/ensemble/replay/answerSample";
import { data, PROMPTS, promptColumn } from "../lib/compareData";
import type { GateCase } from "./cases";

const answersOf = (task: GateCase["task"]): string => join(data, "quality", `answers_${task}.csv.gz`);

let asked = false;

/** Whether the answers for replaying gates are available; reports once that they are not. */
export function answersPresent(): boolean {
  const files = [answersOf("gsm"), answersOf("crux"), PROMPTS];
  const present = files.every((file) => existsSync(file));
  if (!present && !asked) process.stderr.write(`Skipped: gates are replayed on ${files.join(", ")}\n`);
  asked = true;
  return present;
}

/** Answers of a case's experts and of its substitute aggregator, and the notes from reading them. */
export async function sampleOf({
  task,
  experts,
  aggregator,
}: GateCase): Promise<{ readonly sample: AnswerSample; readonly notes: readonly string[] }> {
  const file = answersOf(task);
  const read = await importAnswers({ name: file, stream: await openText(file) }, [...experts, aggregator]);
  if (!read.ok) throw new Error(read.message);
  return read;
}

/** Tokens of the questions' texts, as the table of prompts estimates them. */
export async function questionTokens(): Promise<ReadonlyMap<string, number>> {
  return new Map([...(await promptColumn("prompt_tok_est"))].map(([id, tokens]) => [id, Number(tokens)]));
}
