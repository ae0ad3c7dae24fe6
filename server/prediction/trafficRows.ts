import type { ArtefactTraining } from "@/server/contracts/gateway/artefacts";
import { factsOfLine, type LearningLine, learningLineSchema, programQuietSeconds } from "@/server/contracts/gateway/gatewayLearning";
import type { LengthRows } from "@/solver/prediction/lengths";

/** Share of the programs, the earlier ones, that are learnt from. */
const EARLIER_SHARE = 0.7;

/** Share of lines that may be incomplete, as when the gateway was killed during a write, or is writing: they are left out. */
const TORN_SHARE = 0.01;

/** Minimum number of programs for a meaningful part. */
const LEAST_PROGRAMS = 50;

/** More requests under one name are no program, but a client that never changes its session: no caller waits for their end. */
const MOST_REQUESTS = 1000;

/** A client may read an answer, and go on, this much before it is noted as complete: clocks are rounded, and streams closed after their last word. */
const READ_AHEAD_MS = 2;

/** What was left out of programs that have ended, or never will. */
type LeftOut = NonNullable<ArtefactTraining["leftOut"]>;

/** A request's answer, and the output of its program with it and after it. */
interface EndedRequest {
  readonly line: LearningLine;
  readonly remainingTokens: number;
}

/**
 * The rows of a gateway's log for learning lengths and for measuring the error: requests of programs that have ended, whole programs in one
 * part, the earlier ones for learning. What follows a request in its program counts, whatever model wrote it. Which request read which
 * answer is not known, only the order: a request that began after an answer was complete counts as following it, and one that began before
 * that as parallel to it. Models that answered nothing in the earlier part are left out, and so are answers that the client's limit cut:
 * they count in what their programs wrote, and nothing is learnt of their own length. Sessions of more than a thousand requests are left
 * out whole.
 *
 * @param atMs time of the request to the gateway.
 * @throws Error, in a sentence, if too few programs have ended, all answers were cut, or more than a few lines are invalid.
 */
export function trafficRows(
  lines: readonly string[],
  atMs: number,
): { readonly rows: LengthRows; readonly heldOut: LengthRows; readonly texts: boolean; readonly leftOut: LeftOut } {
  const programs = new Map<string, LearningLine[]>();
  const torn: number[] = [];
  for (const [index, text] of lines.entries()) {
    const line = readLine(text);
    if (line === null) {
      torn.push(index + 1);
      continue;
    }
    const known = programs.get(line.program);
    if (known === undefined) programs.set(line.program, [line]);
    else known.push(line);
  }
  if (torn.length > Math.max(1, TORN_SHARE * lines.length))
    throw new Error(
      `${torn.length} of ${lines.length} lines of what the gateway remembers are in a form this studio does not know, line ${torn[0]} first.`,
    );
  const all = [...programs.values()];
  const short = all.filter(({ length }) => length <= MOST_REQUESTS);
  const startOf = (program: readonly LearningLine[]): number => Math.min(...program.map(({ startedAtMs }) => startedAtMs));
  const ended = short
    .filter((program) => Math.max(...program.map(({ finishedAtMs }) => finishedAtMs)) + 1000 * programQuietSeconds <= atMs)
    .sort((a, b) => startOf(a) - startOf(b));
  if (ended.length < LEAST_PROGRAMS) throw new Error(tooFew(ended.length, all, atMs));
  const cut = Math.round(EARLIER_SHARE * ended.length);
  const rows = rowsOf(ended.slice(0, cut));
  if (rows.models.length === 0)
    throw new Error("Every answer to learn from was as long as its client allowed: the length of answers that are not cut is unknown.");
  const known = new Set(rows.models.map(({ model }) => model));
  const later = rowsOf(ended.slice(cut));
  const answers = ended.flat();
  return {
    rows,
    heldOut: { ...later, models: later.models.filter(({ model }) => known.has(model)) },
    texts: answers.some(({ facts }) => facts.sketch !== null),
    leftOut: { cutAnswers: answers.filter(wasCut).length, longSessions: all.length - short.length },
  };
}

/** What there is, and which limit it is that more cannot be learnt of: time, traffic, or room. */
function tooFew(ended: number, programs: readonly (readonly LearningLine[])[], atMs: number): string {
  const lines = programs.flat();
  const minutes = (atMs - lines.reduce((oldest, { finishedAtMs }) => Math.min(oldest, finishedAtMs), atMs)) / 60_000;
  const share = lines.reduce((least, line) => Math.min(least, line.share ?? 1), 1);
  const quiet = programQuietSeconds / 60;
  const limits = [
    `The gateway remembers ${ended} programs that have ended, of ${programs.length}, and learning needs ${LEAST_PROGRAMS}: a program has ended once no call arrived for ${quiet} minutes, and the oldest answer is ${Math.round(minutes)} minutes old.`,
    ...(programs.some(({ length }) => length > MOST_REQUESTS)
      ? [
          `More than ${MOST_REQUESTS} requests under one session are taken for a client that never changes it, and left out: use a new session for each task.`,
        ]
      : []),
    ...(share < 1 ? [`It has room for one program in ${Math.round(1 / share)} and forgets the others.`] : []),
    programs.length < LEAST_PROGRAMS
      ? "Come back when more programs were served: requests that name one session are one program."
      : `Come back in ${quiet} minutes; programs that go on without a pause never end, so nothing can be learnt from them.`,
  ];
  return limits.join(" ");
}

/** null: invalid. */
function readLine(text: string): LearningLine | null {
  try {
    return learningLineSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** An answer cut by the client's limit shows the allowed length, not the length it would have had. */
const wasCut = ({ outputTokens, mostTokens }: LearningLine): boolean => mostTokens !== null && outputTokens >= mostTokens;

/**
 * Tokens of the accepted answers of a program that follow one of it: answers that began once it was complete, or if it was rejected the
 * accepted one of its own request. Programs may be sessions of many thousand requests.
 */
function laterTokens(program: readonly LearningLine[]): (line: LearningLine) => number {
  const accepted = program.filter((one) => one.accepted).sort((a, b) => a.startedAtMs - b.startedAtMs);
  const from = [0];
  for (const { outputTokens } of accepted.toReversed()) from.push((from.at(-1) ?? 0) + outputTokens);
  const request = ({ startedAtMs, finishedAtMs }: LearningLine): string => `${startedAtMs} ${finishedAtMs}`;
  const ofRequest = new Map<string, number>();
  for (const one of accepted) ofRequest.set(request(one), (ofRequest.get(request(one)) ?? 0) + one.outputTokens);
  const isAfter = (one: LearningLine, line: LearningLine): boolean => one.startedAtMs + READ_AHEAD_MS >= line.finishedAtMs;
  return (line) => {
    let [low, high] = [0, accepted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const one = accepted[middle];
      if (one !== undefined && isAfter(one, line)) high = middle;
      else low = middle + 1;
    }
    const later = from[accepted.length - low] ?? 0;
    // For an answer shorter than the read-ahead the sum includes its own request.
    if (isAfter(line, line)) return later - (line.accepted ? line.outputTokens : 0);
    return later + (line.accepted ? 0 : (ofRequest.get(request(line)) ?? 0));
  };
}

function rowsOf(programs: readonly (readonly LearningLine[])[]): LengthRows {
  const byModel = new Map<string, EndedRequest[]>();
  for (const program of programs) {
    const laterOf = laterTokens(program);
    for (const line of program) {
      if (wasCut(line)) continue;
      const ended = { line, remainingTokens: line.outputTokens + laterOf(line) };
      const known = byModel.get(line.model);
      if (known === undefined) byModel.set(line.model, [ended]);
      else known.push(ended);
    }
  }
  const models = [...byModel].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    prompts: programs.length,
    models: models.map(([model, requests]) => ({
      model,
      facts: requests.map(({ line }) => factsOfLine(line)),
      requestTokens: Float32Array.from(requests, ({ line }) => line.outputTokens),
      remainingTokens: Float32Array.from(requests, ({ remainingTokens }) => remainingTokens),
    })),
  };
}
