import { join } from "node:path";
import { z } from "zod";
import { judgeAnswer } from "@/server/confidenceJudge/judgeAnswer";
import type { PreparedModel } from "@/server/realModels/prepareRealModels";
import type { CardCatalogue } from "@/solver/hardware/catalogue";
import { type ArithmeticQuestion, arithmeticQuestions } from "@/solver/prompts/arithmeticQuestion";
import { buildWorkload } from "@/solver/workload/buildWorkload";
import { createOutcomeCollector } from "@/solver/workload/outcomeCollector";
import type { Workload } from "@/solver/workload/workload";
import { type BriefEngine, briefEngine } from "./briefEngine";

/** Half of them plan, which bounds the quality to a few points. */
const questions = 600;
const seed = 28;
const mostTokens = 16;
const atOnce = 8;
const askLimitMs = 60_000;

export const arithmeticWorkloadName = "Arithmetic";

const completionSchema = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string().nullable() }) })).min(1),
  usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int() }),
});

export interface AskedModels {
  readonly models: readonly PreparedModel[];
  readonly root: string;
  readonly addonsFolder: string;
  readonly cards: CardCatalogue["models"];
}

/**
 * Answers of both models to questions whose answers are known, and the judge's scores of them, as a workload. They are asked in Weir's own
 * engine, which loads at once. Weights and questions are vLLM's and nothing is sampled; rounding differs, so single answers may too.
 *
 * @throws Error with a sentence where an engine does not start or does not answer.
 */
export async function arithmeticWorkload({ models, root, addonsFolder, cards }: AskedModels): Promise<Workload> {
  const asked = arithmeticQuestions(questions, seed);
  const command = (file: string | null, alias: string): readonly string[] => [
    ...[process.execPath, join(root, "dist", "engine.mjs"), "--model", file ?? "", "--alias", alias],
    ...["--addons", addonsFolder, "--sequences", `${atOnce}`, "--threads", "1"],
  ];
  const judge = await briefEngine(command(models[0]?.trainedGguf ?? null, "judge"));
  const collector = createOutcomeCollector({ family: null, tasks: [], aliases: {}, models: cards });
  try {
    for (const [sizeRank, { name, gguf }] of models.entries()) {
      const engine = await briefEngine(command(gguf, name));
      try {
        const answers = await eachAtOnce(asked, async (question) => {
          const answer = await answerOf(engine, name, question);
          return { ...answer, judged: await scoreOf(judge, question.text, answer.text) };
        });
        for (const [index, { kind, answer }] of asked.entries()) {
          const { text = "", judged = 0, inputTokens = 0, outputTokens = 1 } = answers[index] ?? {};
          const problem = collector.add({
            ...{ task: "arithmetic", metric: "correct", promptId: `q-${index}`, category: kind, family: "arith", sizeRank, model: name },
            ...{ label: text === answer ? 100 : 0, judged, confidence: null, agreement: null, inputTokens, outputTokens },
          });
          if (problem !== null) throw new Error(problem);
        }
      } finally {
        await engine.end();
      }
    }
  } finally {
    await judge.end();
  }
  const collected = collector.finish();
  if (!collected.ok) throw new Error(collected.problem);
  const origin = `${questions} questions of arithmetic, answered by both models in Weir's own engine (llama.cpp, not vLLM) and scored by the judge, on this computer`;
  return buildWorkload({
    ...{ name: arithmeticWorkloadName, outcomes: { table: collected.value.table, origin } },
    ...{ arrivals: null, judgeAuc: null, seed },
  });
}

async function answerOf({ url }: BriefEngine, model: string, { text }: ArithmeticQuestion) {
  const messages = [{ role: "user", content: text }];
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, messages, temperature: 0, max_tokens: mostTokens }),
    signal: AbortSignal.timeout(askLimitMs),
  });
  const read = completionSchema.parse(await answer.json());
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = read.usage;
  return { text: read.choices[0]?.message.content?.trim() ?? "", inputTokens, outputTokens: Math.max(1, outputTokens) };
}

/** As the judge scores it: 100 x the smallest probability that the small model gives a token of the answer. */
async function scoreOf({ url }: BriefEngine, question: string, answer: string): Promise<number> {
  const engine = { url, model: "judge", limitMs: askLimitMs };
  const judged = await judgeAnswer(engine, { conversation: [question], answer }, new AbortController().signal);
  if (judged.kind !== "judged") throw new Error(`The judge gives no score: ${judged.kind}.`);
  return judged.score;
}

/** Results in the order of the items. */
async function eachAtOnce<Item, Result>(items: readonly Item[], act: (item: Item) => Promise<Result>): Promise<readonly Result[]> {
  const results: Result[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      const item = items[index];
      if (item !== undefined) results[index] = await act(item);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}
