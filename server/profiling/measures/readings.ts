import type { Measure } from "@/server/contracts/studio/profile";
import { conversationText } from "@/solver/judging/conversation";
import { exactMatch } from "@/solver/judging/exactMatch";
import { rubricProblem, rubricPrompt, SCORE_TOKENS } from "@/solver/judging/judgePrompt";
import { readScore, readVerdict } from "@/solver/judging/readReply";
import type { MeasureReadings, ReadAnswer, Reading, ReadingWork } from "./reading";
import type { UnitTests } from "./unitTests";

/** Where a gate will ask for a score the reply has as many tokens as there; other judges may think before they answer. */
const THINKING_TOKENS = 2048;

/** What the measures of a job do for each answer. */
export function createMeasureReadings(unitTests: UnitTests): MeasureReadings {
  return { readingCount, readingWork: (measure, reading, read) => readingWork(unitTests, { measure, reading, read }), countedScore };
}

/** Why a measure cannot be used here, in one sentence; null: it can. */
export async function measureProblem(measure: Measure, unitTests: UnitTests): Promise<string | null> {
  if (measure.kind === "unit-test") return unitTests.problem();
  if (measure.kind === "exact" || measure.rubric === null) return null;
  const problem = rubricProblem(measure.kind, measure.rubric);
  return problem === null ? null : `${measure.name}: ${problem}`;
}

function readingCount(measure: Measure): number {
  if (measure.kind === "exact" || measure.kind === "unit-test") return 1;
  return measure.kind === "pairwise" && measure.swap ? 2 * measure.repeats : measure.repeats;
}

/** The score that counts: the first reading's, or where both orders are asked the mean of the first two. */
export function countedScore(measure: Measure, scores: readonly (number | null)[]): number | null {
  const [first = null, second = null] = scores;
  if (measure.kind !== "pairwise" || !measure.swap) return first;
  return first === null || second === null ? null : (first + second) / 2;
}

interface AskedReading {
  readonly measure: Measure;
  readonly reading: number;
  readonly read: ReadAnswer;
}

const known = (reading: Reading): ReadingWork => ({ kind: "known", reading });

function readingWork(unitTests: UnitTests, { measure, reading, read }: AskedReading): ReadingWork {
  const { prompt, answer, other } = read;
  const { reference, test } = prompt;
  const conversation = (): string => conversationText(prompt.body.messages);
  switch (measure.kind) {
    case "rubric":
      return ask(rubricPrompt("rubric", { prompt: conversation(), answer }, own(measure)), SCORE_TOKENS, readScore);
    case "reference":
      if (reference === null) return known({ unscored: "no-reference" });
      return ask(rubricPrompt("reference", { prompt: conversation(), answer, reference }, own(measure)), THINKING_TOKENS, readScore);
    case "pairwise": {
      if (other === null) return known({ score: 50 });
      const isSwapped = measure.swap && reading % 2 === 1;
      const pair = isSwapped ? { answer: other, other: answer } : { answer, other };
      return ask(rubricPrompt("pairwise", { prompt: conversation(), ...pair }, own(measure)), THINKING_TOKENS, (reply) =>
        isSwapped ? seenFromB(readVerdict(reply)) : readVerdict(reply),
      );
    }
    case "exact":
      return known(reference === null ? { unscored: "no-reference" } : { score: exactMatch(answer, reference, measure.extract) });
    case "unit-test":
      if (test === null) return known({ unscored: "no-test" });
      return {
        kind: "local",
        async run(signal) {
          const passes = await unitTests.passes({ ...measure, answer, test }, signal);
          return passes === null ? { unscored: "failed" } : { score: passes ? 100 : 0 };
        },
      };
  }
}

const own = ({ rubric }: { readonly rubric: string | null }) => ({ rubric: rubric ?? undefined });

const seenFromB = (reading: Reading): Reading => ("score" in reading ? { score: 100 - reading.score } : reading);

const ask = (content: string, tokens: number, read: (reply: string) => Reading): ReadingWork => ({
  kind: "judge",
  body: { messages: [{ role: "user", content }], temperature: 0, max_tokens: tokens },
  read,
});
