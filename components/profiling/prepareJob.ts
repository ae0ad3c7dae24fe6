import type { ProfileCounts, ProfileJob } from "@/server/contracts/studio";
import type { Tone } from "../ui/Badge";
import { formatAge, formatCount, formatCounted, formatPercent, formatScore, formatSeconds, formatUsd } from "../ui/format";
import { isJudged, unscoredWords } from "./measureWords";

const RUNNING_MS = 1_000;
const IDLE_MS = 5_000;

/** Polling interval of a job: a paused one may be resumed elsewhere; a finished one does not change. `undefined`: not known yet. */
export const jobRefreshMs = (state: ProfileJob["state"] | undefined): number | false =>
  state === "running" ? RUNNING_MS : state === "paused" ? IDLE_MS : false;

/** The progress of calls of one kind. Shares are of those planned, 0..1. */
export interface ProgressRow {
  readonly key: string;
  readonly name: string;
  readonly done: number;
  readonly failed: number;
  /** `400 of 1,000`. */
  readonly says: string;
  /** The number of readings so far, and of those without a score. */
  readonly details: readonly string[];
}

export interface JobPicture {
  readonly word: string;
  readonly tone: Tone;
  /** Share of all calls that are finished. */
  readonly share: number;
  /** `600 of 3,000 calls, 20 %`. */
  readonly says: string;
  readonly models: readonly ProgressRow[];
  readonly measures: readonly ProgressRow[];
}

const words = {
  running: { word: "running", tone: "accent" },
  done: { word: "done", tone: "good" },
  stopped: { word: "stopped", tone: "neutral" },
} as const satisfies Partial<Record<ProfileJob["state"], { readonly word: string; readonly tone: Tone }>>;

const pausedWords = {
  operator: { word: "paused", tone: "warn" },
  cap: { word: "paused at its cap", tone: "warn" },
  "model-down": { word: "paused: an endpoint does not answer", tone: "bad" },
  problem: { word: "paused by a problem", tone: "bad" },
} as const satisfies Record<NonNullable<ProfileJob["pause"]>["kind"], { readonly word: string; readonly tone: Tone }>;

/** State in words: a pause by an operator differs from one by the job itself. */
export const stateOf = ({ state, pause }: Pick<ProfileJob, "state" | "pause">): { readonly word: string; readonly tone: Tone } =>
  state === "paused" ? pausedWords[pause?.kind ?? "operator"] : words[state];

const shareOf = (count: number, planned: number): number => (planned === 0 ? 0 : Math.min(1, count / planned));

function progressOf({ planned, done, failed }: ProfileCounts): Pick<ProgressRow, "done" | "failed" | "says"> {
  return {
    done: shareOf(done, planned),
    failed: shareOf(failed, planned),
    says: `${formatCount(done)} of ${formatCount(planned)}${failed === 0 ? "" : `, ${formatCount(failed)} failed`}`,
  };
}

/** Readings; those without a score are drawn as failed, because no workload can use them. */
function readOf(measure: ProfileJob["measures"][number], answers: number): ReturnType<typeof progressOf> {
  const { done, failed, says } = progressOf(measure);
  const lost = Math.max(0, done - shareOf(measure.scored, answers));
  return lost < 1e-9
    ? { done, failed, says }
    : { done: done - lost, failed: failed + lost, says: `${says}, ${formatCounted(measure.scored, "answer")} scored` };
}

/** The finished share of all calls; never 100 % while one is left. */
export function shareText({ total }: Pick<ProfileJob, "total">): string {
  const share = shareOf(total.done + total.failed, total.planned);
  return formatPercent(share < 1 ? Math.floor(share * 100) / 100 : 1);
}

/** A job's progress, for bars and texts. */
export function prepareJob(job: ProfileJob): JobPicture {
  const { total } = job;
  const over = total.done + total.failed;
  return {
    ...stateOf(job),
    share: shareOf(over, total.planned),
    says: `${formatCount(over)} of ${formatCounted(total.planned, "call")}, ${shareText(job)}`,
    models: job.models.map((each) => ({
      key: each.model,
      name: each.model,
      ...progressOf(each),
      details: [
        ...(each.meanOutputTokens === null ? [] : [`${formatCount(Math.round(each.meanOutputTokens))} tokens a mean answer`]),
        ...(each.meanSeconds === null ? [] : [`${formatSeconds(each.meanSeconds)} each`]),
        ...(each.cut === 0 ? [] : [`${formatCounted(each.cut, "answer")} cut at the most tokens`]),
      ],
    })),
    measures: job.measures.map((each) => ({
      key: each.id,
      name: each.name,
      ...readOf(each, job.prompts * job.models.length),
      details: [
        ...(each.meanScore === null ? [] : [`mean score ${formatScore(each.meanScore)}`]),
        ...(isJudged(each.kind) ? [`cost ${formatUsd(each.usd)}`] : ["no calls"]),
        ...Object.entries(each.unscored)
          .filter(([, count]) => count > 0)
          .map(([kind, count]) => `${formatCount(count)} ${unscoredWords[kind as keyof typeof each.unscored]}`),
      ],
    })),
  };
}

/** `some 10 min left`; null where nothing progresses, or the history is too short. */
export const leftText = ({ state, etaSeconds }: Pick<ProfileJob, "state" | "etaSeconds">): string | null =>
  state !== "running" || etaSeconds === null ? null : etaSeconds < 2 ? "nearly done" : `about ${formatAge(etaSeconds)} left`;

export type WayOut =
  | { readonly kind: "cap"; readonly suggestedUsd: number; readonly says: string }
  | { readonly kind: "resume"; readonly says: string };

/** What to do about a pause; null: it is not paused. */
export function wayOut(job: ProfileJob): WayOut | null {
  if (job.state !== "paused" || job.pause === null) return null;
  switch (job.pause.kind) {
    case "cap":
      return {
        kind: "cap",
        suggestedUsd: suggestedCap(job),
        says: "Raise the cap to continue. Measurements stay, and a workload can be made from them.",
      };
    case "model-down":
      return {
        kind: "resume",
        says: "Restore it, on Clusters or Apply or at its address, then resume: finished calls are not repeated.",
      };
    case "problem":
      return { kind: "resume", says: "Fix the problem, then resume: finished calls are not repeated." };
    case "operator":
      return { kind: "resume", says: "Calls in progress have ended. Resuming continues with the rest." };
  }
}

/** Prompts differ: the rest may cost more per call than the finished part. */
const MARGIN = 1.2;

/** A cap that should suffice for the rest: a fifth above its cost at the current cost per call, rounded up to two digits. */
export function suggestedCap(job: ProfileJob): number {
  const { spentUsd, request } = job;
  return roundedUp(Math.max(spentUsd + MARGIN * remainingUsd(job), request.capUsd ?? 0, LEAST_USD));
}

/** Rounded to cents, for a field. */
const LEAST_USD = 0.01;

/** The cost of the remaining calls: for each model by its prices and mean answer, for each measure by its mean cost per call. */
function remainingUsd({ models, measures, request, inputTokens, outputTokens, total }: ProfileJob): number {
  const left = ({ planned, done, failed }: ProfileCounts): number => Math.max(0, planned - done - failed);
  const mean = (tokens: number): number => (total.done === 0 ? 0 : tokens / total.done);
  const ofModels = models.reduce((sum, each) => {
    const asked = request.models.find(({ model }) => model === each.model);
    if (asked === undefined) return sum;
    const output = each.meanOutputTokens ?? mean(outputTokens);
    const usd = (mean(inputTokens) * asked.usdPerMillionInputTokens + output * asked.usdPerMillionOutputTokens) / 1e6;
    return sum + left(each) * usd;
  }, 0);
  return measures.reduce((sum, each) => sum + (each.done === 0 ? 0 : (left(each) * each.usd) / each.done), ofModels);
}

function roundedUp(usd: number): number {
  const digit = 10 ** (Math.floor(Math.log10(usd)) - 1);
  return Number((Math.ceil(usd / digit - 1e-9) * digit).toPrecision(2));
}

/** Prompts, models and measures of a job, in one line. */
export const askedText = ({ request, prompts, promptSetName }: Pick<ProfileJob, "request" | "prompts" | "promptSetName">): string =>
  `${formatCounted(prompts, "prompt")} of ${promptSetName}, ${formatCounted(request.models.length, "model")}, ${formatCounted(request.measures.length, "measure")}`;
