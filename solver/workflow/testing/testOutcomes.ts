import { mixSeed, seededRandom } from "@/solver/numeric/random";
import type { OutcomeTable } from "@/solver/workload/workload";

/** A made-up table of two models that are right on some prompts, whose lengths and labels differ from row to row. For tests. */
export function testOutcomes(prompts: number, seed = 1): OutcomeTable {
  const random = seededRandom(mixSeed(seed, "test outcomes"));
  const model = (name: string, right: number) => {
    const label = Float64Array.from({ length: prompts }, () => (random.next() < right ? 100 : 0));
    return {
      model: name,
      tableName: name,
      outputTokens: Int32Array.from({ length: prompts }, () => Math.ceil(random.lognormal(5, 0.6))),
      label,
      judged: label,
    };
  };
  return {
    promptIds: Array.from({ length: prompts }, (_, at) => `prompt-${at}`),
    categories: Array.from({ length: prompts }, () => "test"),
    inputTokens: Int32Array.from({ length: prompts }, () => 20 + random.int(200)),
    models: [model("small", 0.5), model("large", 0.8)],
  };
}
