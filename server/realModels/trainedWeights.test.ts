import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseHuggingFaceConfig } from "@/solver/hardware/huggingFaceConfig";
import { arithmeticQuestions } from "@/solver/prompts/arithmeticQuestion";
import { readDecoder } from "./decoder";
import { deepened } from "./deepen";
import { huggingFaceFiles } from "./huggingFaceFiles";
import { realModels } from "./realModel";
import { realModelCards } from "./realModelCards";
import { llamaLogits } from "./testing/llamaLogits";
import { conversationTokens, END, textTokens } from "./vocabulary";

const trained = (name: string) => {
  const folder = join("models", name);
  return readDecoder(readFileSync(join(folder, "config.json"), "utf8"), readFileSync(join(folder, "model.safetensors")));
};

/** Whether each token of the right answer is the likeliest: then that answer is the one the model gives. */
function isAnswered(decoder: ReturnType<typeof trained>, text: string, answer: string): boolean {
  const question = conversationTokens([text]);
  const wanted = [...textTokens(answer), END];
  const logits = llamaLogits(decoder, [...question, ...wanted.slice(0, -1)]).slice(question.length - 1);
  return wanted.every((token, at) => logits[at]!.indexOf(Math.max(...logits[at]!)) === token);
}

test.each([
  ["arith-small", 0.35, 0.7],
  ["arith-large", 0.96, 1],
] as const)("of questions drawn here %s answers between %f and %f", (name, least, most) => {
  const decoder = trained(name);
  const questions = arithmeticQuestions(100, 77);
  const right = questions.filter(({ text, answer }) => isAnswered(decoder, text, answer)).length / questions.length;
  expect(right).toBeGreaterThanOrEqual(least);
  expect(right).toBeLessThanOrEqual(most);
});

test("the cards describe the weights as they are served", () => {
  for (const [at, model] of realModels.entries()) {
    const { config } = trained(model.name);
    expect(config.num_hidden_layers).toBe(model.trainedLayers);
    const written = huggingFaceFiles(deepened(trained(model.name), model.extraLayers)).get("config.json")!;
    const read = parseHuggingFaceConfig(JSON.parse(Buffer.from(written).toString()));
    const { architecture, maxContextTokens } = realModelCards[at]!;
    expect(read).toMatchObject({ ok: true, architecture, maxContextTokens });
  }
});
