import type { Prompt } from "@/server/contracts/studio";
import { seededRandom } from "@/solver/numeric/random";
import { generatedWorkload } from "@/solver/workload/generated";
import type { Workload } from "@/solver/workload/workload";

/** Part of every prompt. */
export const SECRET = "kumquat";

/** The prompt's subject determines whether the small model is right, and the length of both answers. */
export const SUBJECTS = { easy: ["sum", "name"], hard: ["prove", "derive"] } as const;

/** Prompts with texts, and the answers of two models; `wrong` is the probability of an answer that differs from its subject's outcome. */
export function labelledPrompts(prompts: number, wrong = 0.1): { readonly workload: Workload; readonly texts: readonly Prompt[] } {
  const random = seededRandom(5);
  const kinds = Array.from({ length: prompts }, () => (random.next() < 0.5 ? "easy" : "hard"));
  const base = generatedWorkload({ prompts, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 3 });
  const models = base.outcomes.models.map((model, rank) => ({
    ...model,
    label: Float64Array.from(kinds, (kind) => (random.next() < (rank === 1 || kind === "easy" ? 1 - wrong : wrong) ? 100 : 0)),
    outputTokens: Int32Array.from(kinds, (kind) => Math.round((kind === "easy" ? 40 : 400) * random.lognormal(0, 0.3))),
  }));
  const promptIds = kinds.map((_, at) => `p${at}`);
  const texts = kinds.map((kind, at): Prompt => {
    const content = `Please ${SUBJECTS[kind][at % 2]} this, ${SECRET}, case ${random.int(1000)}`;
    return { id: `p${at}`, category: "", atMs: null, reference: null, test: null, body: { messages: [{ role: "user", content }] } };
  });
  return { workload: { ...base, name: "labelled", outcomes: { ...base.outcomes, promptIds, models } }, texts };
}
