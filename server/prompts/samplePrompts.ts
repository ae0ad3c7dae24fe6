import type { Outcome, Prompt, PromptSet, SamplePrompts } from "@/server/contracts/studio";
import { sampleInterval } from "@/solver/prompts/sampleInterval";
import { selectionSampler } from "@/solver/prompts/selectionSampler";
import { factsOf } from "./promptOf";
import { type PromptFile, readPrompts } from "./readPrompts";
import { surveyPrompts } from "./surveyPrompts";

/** So much is handed over at a time: little enough to be written down at once. */
const BATCH_PROMPTS = 100;
const BATCH_CHARACTERS = 1_000_000;

/** The data of a sample apart from its name and its owner. */
export type SampledPrompts = Omit<PromptSet, "id" | "name" | "createdAt" | "actor" | "from" | "expiresAt" | "deleted">;

/**
 * Takes a stratified sample of a file of any size, in which each prompt has the same chance: one pass to count, one to choose, with the
 * same outcome for the same file and draw. Ids that occur twice in the sample get a number as a suffix.
 *
 * @param take gets some prompts of the sample at a time, in the order of the file; reading waits for it.
 * @returns the sample, or one sentence if the file has no prompts.
 */
export async function samplePrompts(
  file: PromptFile,
  { size, by, draw, ofTraffic }: Pick<SamplePrompts, "size" | "by" | "draw" | "ofTraffic">,
  take: (prompts: readonly Prompt[]) => Promise<void>,
): Promise<Outcome<{ readonly sampled: SampledPrompts }>> {
  const surveyed = await surveyPrompts(file);
  if (!surveyed.ok) return surveyed;
  const { prompts: population, skipped } = surveyed.survey;
  const strata = surveyed.strata.strataBy(by);
  const sampler = selectionSampler(strata.counts, size, draw);
  const tell = tellApart();
  const counts = { prompts: 0, withReference: 0, withTest: 0, multiTurn: 0, withTools: 0 };
  let characters = 0;
  let batch: Prompt[] = [];
  let batchCharacters = 0;
  const handOver = async (): Promise<null> => {
    await take(batch);
    batch = [];
    batchCharacters = 0;
    return null;
  };
  const read = await readPrompts(file, {
    prompt(prompt) {
      const facts = factsOf(prompt);
      if (!sampler.take(strata.of(facts))) return null;
      characters += facts.characters;
      counts.prompts += 1;
      if (prompt.reference !== null) counts.withReference += 1;
      if (prompt.test !== null) counts.withTest += 1;
      if (facts.isMultiTurn) counts.multiTurn += 1;
      if (facts.hasTools) counts.withTools += 1;
      batch.push({ ...prompt, id: tell(prompt.id) });
      batchCharacters += JSON.stringify(prompt).length;
      return batch.length < BATCH_PROMPTS && batchCharacters < BATCH_CHARACTERS ? null : handOver();
    },
    skipped: () => undefined,
  });
  if (!read.ok) return read;
  await handOver();
  const known = (sampled: number, of: number) => sampleInterval(sampled, ofTraffic ? Number.POSITIVE_INFINITY : of);
  const shares = [...strata.counts].map(([name, ofStratum]) => {
    const sampled = sampler.allocation.get(name) ?? 0;
    return { name, population: ofStratum, sampled, interval: sampled === 0 ? null : known(sampled, ofStratum) };
  });
  const interval = known(counts.prompts, population);
  return {
    ok: true,
    sampled: { ...counts, population, skipped, strata: shares, interval, meanCharacters: characters / counts.prompts },
  };
}

/** Gives each id back, or the first like it that is free. */
function tellApart(): (id: string) => string {
  const used = new Set<string>();
  const numbers = new Map<string, number>();
  return (id) => {
    let free = id;
    let number = numbers.get(id) ?? 1;
    while (used.has(free)) free = `${id}-${++number}`;
    numbers.set(id, number);
    used.add(free);
    return free;
  };
}
