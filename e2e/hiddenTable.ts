import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmulatedOutcomes, emulatedClusterSchema, emulatedOutcomesSchema } from "@/server/contracts/engine/emulatorAdmin";
import { expect, type RunningStudio } from "./fixtures";

/**
 * The table that the emulated engines replay and that is hidden from the studio: lengths, labels and judged scores of every model's answer
 * to every prompt.
 */
export const hiddenTable = ({ stateDir }: RunningStudio): EmulatedOutcomes =>
  emulatedOutcomesSchema.parse(JSON.parse(readFileSync(join(stateDir, "emulator-outcomes.json"), "utf8")));

/** Lines that are not prompts, to be put into the file. */
const malformed = ['{"id": "interrupted", "messages": [', '{"id": "asks-nothing", "messages": []}', "not JSON at all"];

/** A realistic file of prompts: chat lines with categories, some of several turns, a few lines broken. Returns its path. */
export function promptFile(table: EmulatedOutcomes, prompts: number): { readonly path: string; readonly bad: number } {
  const lines = table.promptIds.slice(0, prompts).map((id, at) => {
    const asked = { role: "user", content: `[prompt ${id}] What does case ${at} come to?` };
    const before = [
      { role: "user", content: "I have a case for you." },
      { role: "assistant", content: "Tell me about it." },
    ];
    const messages = [{ role: "system", content: "Answer in one sentence." }, ...(at % 5 === 0 ? before : []), asked];
    return JSON.stringify({ id, category: at % 3 === 0 ? "billing" : "returns", messages });
  });
  for (const [at, line] of malformed.entries()) lines.splice(10 + 50 * at, 0, line);
  const path = join(mkdtempSync(join(tmpdir(), "weir-prompts-")), "prompts.jsonl");
  writeFileSync(path, `${lines.join("\n")}\n`);
  return { path, bad: malformed.length };
}

/** The workload line expected for a prompt; the smallest token probability of an emulated answer is that of its tokens, not of the table. */
export function rowOf(table: EmulatedOutcomes, id: string) {
  const at = table.promptIds.indexOf(id);
  const models = table.models.map(({ model, outputTokens, label, judged }) => [
    model,
    { outputTokens: outputTokens[at], label: label[at], judged: judged[at], confidence: expect.any(Number) },
  ]);
  return { id, inputTokens: table.inputTokens[at], models: Object.fromEntries(models) };
}

/**
 * The true label of the displayed emulated answer, as a correct labeller would give it. @param place of it in the job's order, the only way
 * to identify it.
 */
export function labelIn(table: EmulatedOutcomes, text: string, place: number): number {
  const [, id = ""] = /\[emulated answer (\S+) by \[model\]\]/.exec(text) ?? [];
  const label = table.models[place % table.models.length]?.label[table.promptIds.indexOf(id)];
  if (label === undefined) throw new Error("The page shows no emulated answer, or says whose it is.");
  return label;
}

/** Requests that the cluster's engines answered, and those aborted because their client disconnected. */
export interface Served {
  readonly answered: number;
  readonly abandoned: number;
}

/** The requests that the emulated engines and judges have served since their start, by their own counters. */
export async function served({ stateDir, emulatorUrl }: RunningStudio): Promise<{ readonly engines: Served; readonly judges: Served }> {
  const token = readFileSync(join(stateDir, "admin-token"), "utf8").trim();
  const answer = await fetch(`${emulatorUrl}/cluster`, { headers: { authorization: `Bearer ${token}` } });
  const { engines, judge } = emulatedClusterSchema.parse(await answer.json());
  const counted = await Promise.all(engines.map(({ url }) => countAt(url)));
  return { engines: counted.reduce(add, { answered: 0, abandoned: 0 }), judges: await countAt(judge.url) };
}

const add = (sum: Served, one: Served): Served => ({ answered: sum.answered + one.answered, abandoned: sum.abandoned + one.abandoned });

async function countAt(url: string): Promise<Served> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = [...text.matchAll(/^vllm:request_success_total\{[^}]*finished_reason="(\w+)"[^}]*\} (\d+)/gm)];
  const of = (aborted: boolean) =>
    lines.reduce((sum, [, reason, count]) => ((reason === "abort") === aborted ? sum + Number(count) : sum), 0);
  return { answered: of(false), abandoned: of(true) };
}
