import type { JudgeFault, JudgeTest } from "@/server/contracts/studio/judges";
import { askEndpoint, type EndpointAnswer } from "@/server/engineClient/askEndpoint";
import { warn } from "@/server/engineClient/finding";
import { timeLimit } from "@/server/lib/timeLimit";
import { completionScore, judgeCallBody } from "@/solver/judging/judgeCall";
import { judgePrompt } from "@/solver/judging/judgePrompt";
import { fitJudgeTimes, type TimedCall } from "@/solver/judging/judgeTime";
import { type Random, seededRandom } from "@/solver/numeric/random";
import { type CallFault, type JudgeTarget, judgeFaultFinding, measuredFinding } from "./judgeFinding";

export interface MeasureOptions {
  readonly signal: AbortSignal;
  /** For one call; left out: as long as the gateway waits for one. */
  readonly callLimitMs?: number;
  /** After which no further call begins. */
  readonly limitMs?: number;
}

/** As the gateway's own limit of a call (`judgeSeconds`): a slower judge is down there too. */
const usualCallLimitMs = 10_000;
const usualLimitMs = 8_000;

/** Characters of prompt and answer together. */
const lengths = [100, 1_000, 4_000] as const;
/** Calls of each length. */
const rounds = 5;
/** Assumed characters per token if the judge reports no count. */
const charactersPerToken = 4;

const refusedStatuses: readonly number[] = [400, 413, 422];

const sentence = "A weir is a low wall across a river; water that rises above its edge flows on to the next basin. ";
const words = sentence.toLowerCase().match(/[a-z]{3,}/g) ?? [];

/** Text that begins with the call's number and words drawn for it: an engine that caches prefixes would answer the same text without reading it again. */
function textOf(characters: number, number: number, random: Pick<Random, "int">): string {
  const drawn = Array.from({ length: 5 }, () => words[random.int(words.length)]).join(" ");
  return `${number} ${drawn}. ${sentence.repeat(Math.ceil(characters / sentence.length))}`.slice(0, characters);
}

type Call = { readonly kind: "scored"; readonly seconds: number } | { readonly kind: "refused" } | ({ readonly kind: "fault" } & CallFault);

/**
 * Makes a judge score answers of three lengths, one call at a time, with the gateway's own prompt. The first call opens the connection and
 * is not counted; a fault that it finds ends the test.
 *
 * @returns the findings; `times` of the calls with a score, as far as they were made within the limit. Rejects only when `signal` fires.
 */
export async function measureJudge(target: JudgeTarget, options: MeasureOptions): Promise<JudgeTest> {
  const { signal, callLimitMs = usualCallLimitMs, limitMs = usualLimitMs } = options;
  const testedAt = new Date().toISOString();
  const endsMs = performance.now() + limitMs;
  // Different words in each measurement: an engine may still cache the prefixes of the previous one.
  const random = seededRandom(Date.now());
  let calls = 0;
  const call = async (characters: number): Promise<Call> => {
    calls += 1;
    const half = textOf(characters / 2, calls, random);
    const made = await callOnce(target, half, timeLimit(signal, callLimitMs));
    signal.throwIfAborted();
    return made;
  };
  const first = await call(lengths[0]);
  if (first.kind !== "scored")
    return { testedAt, fault: faultOf(first), findings: [judgeFaultFinding(target, first, callLimitMs)], times: null };

  const timed: TimedCall[] = [];
  const refused = new Set<number>();
  let failed = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (const characters of lengths) {
      if (refused.has(characters) || performance.now() > endsMs) continue;
      const made = await call(characters);
      if (made.kind === "scored") timed.push({ tokens: characters / charactersPerToken, seconds: made.seconds });
      else if (made.kind === "refused") refused.add(characters);
      else failed += 1;
    }
  }
  // Where the first call took the time, it is all there is.
  const counted = timed.length > 0 ? timed : [{ tokens: lengths[0] / charactersPerToken, seconds: first.seconds }];
  const times = fitJudgeTimes(counted);
  if (times === null) throw new Error("a call that was answered took no time");
  return {
    testedAt,
    fault: null,
    findings: [
      measuredFinding(target, times),
      ...[...refused].map((characters) =>
        warn(
          "judge",
          `${target.model} refuses calls whose prompt and answer have ${characters} characters in total.`,
          "Answers to longer prompts get no score: raise the judge's context, or have less shown to it by maxCharacters in the gateway's settings.",
        ),
      ),
      ...(failed === 0
        ? []
        : [
            warn("judge", `${failed} of ${timed.length + failed} calls to ${target.model} brought no score.`, "Look into the judge's log."),
          ]),
    ],
    times,
  };
}

const faultOf = (call: Exclude<Call, { kind: "scored" }>): JudgeFault => (call.kind === "refused" ? "failed" : call.fault);

async function callOnce({ model, ...target }: JudgeTarget, half: string, signal: AbortSignal): Promise<Call> {
  const body = judgeCallBody(model, judgePrompt(`user: ${half}`, half));
  const startedMs = performance.now();
  const answer = await askEndpoint({ target, path: "/v1/chat/completions", body, signal });
  const seconds = (performance.now() - startedMs) / 1000;
  if (answer.kind === "answered" && answer.status === 200)
    return completionScore(answer.text) === null ? { kind: "fault", fault: "no-score", detail: "" } : { kind: "scored", seconds };
  if (answer.kind === "answered" && refusedStatuses.includes(answer.status)) return { kind: "refused" };
  return { kind: "fault", ...faultIn(answer) };
}

function faultIn(answer: EndpointAnswer): CallFault {
  switch (answer.kind) {
    case "late":
      return { fault: "timed-out", detail: "" };
    case "no-access":
      return answer.error.kind === "address"
        ? { fault: "unreachable", detail: "", error: answer.error }
        : { fault: "no-key", detail: `${answer.error.message}.`, error: answer.error };
    case "failed":
      return { fault: "unreachable", detail: answer.code };
    case "answered": {
      const { status } = answer;
      if (status === 401 || status === 403) return { fault: "key-refused", detail: String(status) };
      return { fault: status === 404 ? "not-found" : "failed", detail: String(status) };
    }
  }
}
