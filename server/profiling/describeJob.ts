import type { ProfileCounts, ProfileJob, PromptSet } from "@/server/contracts/studio";
import type { StoredProfile } from "@/server/store/profileRepository";
import type { CallShape } from "./callLedger";
import { SAMPLES_ID } from "./gateReadings";
import type { ProfileRun } from "./profileRun";
import { countedReadings } from "./profileShape";
import type { Tally } from "./tally";

/** Most reasons of failures that are listed; a job has few. */
const MOST_FAILURES = 5;

export interface JobParts {
  readonly profile: StoredProfile;
  readonly set: PromptSet | null;
  readonly shape: CallShape;
  readonly tally: Tally;
  /** null: it has ended. */
  readonly run: ProfileRun | null;
  readonly workloadIds: readonly string[];
}

/** A job for display. Cheap: everything is counted already. */
export function describeJob({ profile, set, shape, tally, run, workloadIds }: JobParts): ProfileJob {
  const { id, createdAt, actor, request } = profile;
  const state = run?.state ?? profile.state;
  const models = request.models.map(({ model }, at) => {
    const { outputTokens, withOutput, seconds, timed, cut, ...own } = tally.model(model);
    const counts = run?.ledger.models[at] ?? ended(shape.prompts, own, state);
    return { ...counted(counts), model, cut, meanOutputTokens: ratio(outputTokens, withOutput), meanSeconds: ratio(seconds, timed) };
  });
  const measures = request.measures.map((measure, at) => {
    const { id: measureId, name, kind } = measure;
    const { unscored, usd, score, scored, ...own } = tally.measure(measureId);
    const scores = { scored: Math.floor(scored / countedReadings(measure)), meanScore: ratio(score, scored) };
    const planned = shape.prompts * request.models.length * (shape.measures[at]?.readings ?? 1);
    const counts = run?.ledger.measures[at] ?? ended(planned, own, state);
    return { ...counted(counts), id: measureId, name, kind, unscored: { ...unscored }, usd, ...scores };
  });
  const { samples } = request.gates;
  const sampled =
    samples === null
      ? []
      : [
          run?.ledger.measures[request.measures.length] ??
            ended(shape.prompts * request.models.length * samples.count, tally.measure(SAMPLES_ID), state),
        ];
  const total = [...models, ...measures, ...sampled].reduce<ProfileCounts>(
    (sum, one) => ({ planned: sum.planned + one.planned, done: sum.done + one.done, failed: sum.failed + one.failed }),
    { planned: 0, done: 0, failed: 0 },
  );
  const callsPerMinute = run?.callsPerMinute() ?? null;
  return {
    ...{ id, createdAt, actor, request, state, promptSetName: set?.name ?? "", prompts: shape.prompts },
    pause: state === "paused" ? (run?.pausedFor ?? profile.pause) : null,
    total: { ...total, inFlight: run?.inFlight() ?? 0 },
    askedAgain: tally.lost,
    ...{ models, measures, inputTokens: tally.inputTokens, outputTokens: tally.outputTokens, spentUsd: tally.usd },
    etaSeconds: run?.etaSeconds() ?? null,
    ...{ callsPerMinute, failures: tally.failures(MOST_FAILURES), workloadIds },
    notes: (profile.withoutLogprobs ?? []).map(
      (model) => `${model} does not report log probabilities: workloads have no column confidence of its answers.`,
    ),
    hasAnswers: request.keepAnswers && set?.deleted === false && models.some(({ done }) => done > 0),
  };
}

const counted = ({ planned, done, failed }: ProfileCounts): ProfileCounts => ({ planned, done, failed });

/** In a completed job everything that is not done has failed: answers, and readings of missing answers. */
const ended = (planned: number, { done, failed }: { readonly done: number; readonly failed: number }, state: ProfileJob["state"]) => ({
  planned,
  done,
  failed: state === "done" ? planned - done : failed,
});

const ratio = (sum: number, count: number): number | null => (count === 0 ? null : sum / count);
