import { answerWords, createGate } from "@/solver/gates/gates";
import { seededRandom } from "@/solver/numeric/random";
import { trainScorer } from "@/solver/prediction/gateScorer";
import { atMost, type Benchmark, type Measurement } from "../lib/benchmark";

const TRAINING_ANSWERS = 400;
const WARM_UP = 300;
const SCORED = 500;

/** Words of prompt and of answer: of a short question, of a usual request, and more than a scorer reads. */
const LENGTHS = [10, 200, 20_000] as const;

/** Words of a vocabulary of 5,000 whose frequencies fall with their rank. */
function textOf(words: number, seed: number): string {
  const random = seededRandom(seed);
  return Array.from({ length: words }, () => wordOf(Math.floor(5000 ** random.next()))).join(" ");
}

/** A word for each number, of letters: a number in a text counts by its length alone. */
const wordOf = (rank: number): string => [...String(rank)].map((digit) => String.fromCharCode(97 + Number(digit))).join("");

/** The time of one score by a scorer that has learnt as many words as a document may hold. */
function scoreCost(): Measurement {
  const labels = Array.from({ length: TRAINING_ANSWERS }, (_, at) => (at % 2) * 100);
  const words = labels.map((label, at) =>
    answerWords(textOf(100, at), `${label > 50 ? "certainly" : "perhaps"} ${textOf(100, 1000 + at)}`),
  );
  const scorer = trainScorer({ features: ["log-answer-tokens"], facts: labels.map(() => [5]), labels, words }, 1);
  const gate = createGate({ kind: "scorer", answer: "number", ...scorer });
  const times = LENGTHS.map((length) => {
    const evidence = {
      ...{ prompt: textOf(length, 1), answer: textOf(length, 2), inputTokens: length, outputTokens: length, endedByLength: false },
      ...{ tokens: null, others: null, judgedScore: null },
    };
    for (let round = 0; round < WARM_UP; round += 1) gate.score(evidence);
    const began = performance.now();
    for (let round = 0; round < SCORED; round += 1) gate.score(evidence);
    return { length, ms: (performance.now() - began) / SCORED };
  });
  const read = (scorer.words?.prompt.buckets.length ?? 0) + (scorer.words?.answer.buckets.length ?? 0);
  return {
    figure: Math.max(...times.map(({ ms }) => ms)),
    unit: "ms",
    detail: `one score by a scorer that reads ${read} words and pairs of words, a document of ${Math.round(JSON.stringify(scorer).length / 1000)} kB; the slowest of ${times.map(({ length, ms }) => `${ms.toFixed(3)} ms with ${length} words of prompt and of answer`).join(", ")}`,
  };
}

export const scorerCostBenchmarks: readonly Benchmark[] = [
  {
    name: "gates, one score by a scorer with words",
    budget: atMost(1, "a score reads a text without a bound, or more than once"),
    run: scoreCost,
  },
];
