import { acceptanceThreshold } from "@/solver/prediction/acceptance";
import { type Embeddings, embeddingsAt } from "@/solver/prediction/confidence";
import type { ConfigurationRows } from "@/solver/prediction/configurationRows";
import { cheapestFirst, headFeatures, trainConfigurations } from "@/solver/prediction/configurations";
import { allLogits } from "@/solver/prediction/headBank";
import type { OutcomeTable } from "@/solver/workload/workload";

/** What a reader says of prompts: logits by prompt, then by head, and the probability from which on it accepts. */
export interface Reading {
  readonly logitsOf: (rows: ConfigurationRows) => Float32Array;
  readonly threshold: number;
}

/** A reading that needs no more of a prompt than its row in the table. */
interface BoundReading extends Reading {
  readonly logitsOf: (rows: Pick<ConfigurationRows, "prompts">) => Float32Array;
}

/** A label in 0..100 that counts as right. */
const RIGHT = 50;

/** Logit of a configuration of which no program is known: never accepted. */
const NEVER = -20;

/**
 * The most that a prompt tells: the share of programs for which each configuration is accurate, among all with prompts to which the same
 * models' recorded answers are right. No reader of prompts knows more, since a program's outcome depends on its prompt by these answers
 * alone; its other stages are drawn from other prompts' answers. Its threshold is selected as that of heads.
 *
 * @param rows prompts of the table with the outcomes of their programs, many of each set of right models.
 */
export function readerBound({ models }: OutcomeTable, rows: ConfigurationRows): BoundReading {
  const { size } = rows.space;
  const heads = size - 1;
  const setOf = (prompt: number): string => models.map(({ label }) => ((label[prompt] ?? 0) > RIGHT ? 1 : 0)).join("");
  const sums = new Map<string, { programs: number; readonly accurate: Float64Array }>();
  for (const [row, prompt] of rows.prompts.entries()) {
    const counts = rows.programs[row] ?? 0;
    const own = sums.get(setOf(prompt)) ?? { programs: 0, accurate: new Float64Array(heads) };
    sums.set(setOf(prompt), own);
    own.programs += counts;
    for (let head = 0; head < heads; head++)
      own.accurate[head] = (own.accurate[head] ?? 0) + counts * (rows.accurate[row * size + head] ?? 0);
  }
  const logits = new Map(
    Array.from(sums, ([set, { programs, accurate }]) => [set, accurate.map((right) => Math.log((right + 0.5) / (programs - right + 0.5)))]),
  );
  const logitsOf = ({ prompts }: Pick<ConfigurationRows, "prompts">): Float32Array => {
    const said = new Float32Array(prompts.length * heads).fill(NEVER);
    for (const [row, prompt] of prompts.entries()) said.set(logits.get(setOf(prompt)) ?? [], row * heads);
    return said;
  };
  return { logitsOf, threshold: acceptanceThreshold(logitsOf(rows), { ...rows, size, cheapestFirst: cheapestFirst(rows.space) }) };
}

/** Heads on words, or a network on an encoder's embeddings of all prompts of the table, learnt from rows. */
export function trainedReading(rows: ConfigurationRows, embeddings: Embeddings | null, seed: number): Reading {
  const read = (of: ConfigurationRows): ConfigurationRows =>
    embeddings === null ? of : { ...of, embeddings: embeddingsAt(embeddings, of.prompts) };
  const artefact = trainConfigurations(read(rows), { seed, kinds: [embeddings === null ? "linear" : "network"] });
  return { logitsOf: (of) => allLogits(artefact.heads, headFeatures(artefact, read(of))), threshold: artefact.threshold };
}
