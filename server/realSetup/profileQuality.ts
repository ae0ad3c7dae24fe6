import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { JUDGE_MODEL } from "@/server/confidenceJudge/judgePrograms";
import type { Outcome, ProfileJob, ProfileRequest, SamplePrompts } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import type { Uploads } from "@/server/store/uploads";
import { arithmeticPrompts, arithmeticQuestions } from "@/solver/prompts/arithmeticQuestion";
import { freeName, realModelNames } from "./realNames";
import { SetupFailure, type SetupStep, type StepContext, StoppedByPerson, unwrap } from "./setupStep";

const SEED = 28;
/** No answer has more tokens. */
const MOST_OUTPUT_TOKENS = 16;
const CONCURRENCY = 6;
const LOOK_MS = 500;

const confidence = "confidence";
const right = "right";

/** The services that prepare a workload, as the API offers them. */
export interface QualityParts {
  readonly store: Pick<Store, "workloads" | "prompts">;
  readonly uploads: Pick<Uploads, "save">;
  readonly prompts: { sample(request: SamplePrompts, actor: string): Promise<Outcome<{ readonly id: string }>> };
  readonly profiles: {
    start(request: ProfileRequest, actor: string): Promise<Outcome<{ readonly id: string }>>;
    get(id: string): ProfileJob | null;
    pause(id: string, actor: string): Outcome<object>;
    resume(id: string, capUsd: undefined, actor: string): Outcome<object>;
    toWorkload(
      order: {
        readonly jobId: string;
        readonly name: string;
        readonly gate: string;
        readonly label: string;
        readonly arrivals: { readonly kind: "generated" };
        readonly segments: readonly [];
        readonly timeZone: string;
      },
      actor: string,
    ): Promise<Outcome<{ readonly ids: readonly string[] }>>;
  };
}

/** Asks both models questions whose answers are known, has the judge score each answer, and stores the outcomes as a workload. */
export const profileQuality =
  (parts: QualityParts): SetupStep =>
  async (context) => {
    const { store } = parts;
    const { workloadId, clusterId } = context.record();
    const known = workloadId === null ? null : store.workloads.summary(workloadId);
    if (known !== null) return `"${known.name}" was measured before.`;
    const promptSetId = await questionSet(parts, context);
    const profileId = await profiled(parts, context, requestOf(promptSetId, clusterId ?? ""));
    const order = { gate: confidence, label: right, arrivals: { kind: "generated" }, segments: [], timeZone: "UTC" } as const;
    const name = freeName("Arithmetic on real models", new Set(store.workloads.list().map((one) => one.name)));
    const { ids } = unwrap(await parts.profiles.toWorkload({ jobId: profileId, name, ...order }, context.actor));
    context.keep({ workloadId: ids[0] ?? null });
    return `${store.prompts.get(promptSetId)?.prompts} questions were answered by both models and stored as the workload "${name}".`;
  };

async function questionSet({ store, uploads, prompts }: QualityParts, { record, keep, actor, say }: StepContext): Promise<string> {
  const { promptSetId, order } = record();
  const count = order.questions;
  const kept = promptSetId === null ? null : store.prompts.get(promptSetId);
  if (kept !== null && !kept.deleted) return kept.id;
  say("Writing the questions");
  const text = arithmeticPrompts(arithmeticQuestions(count, SEED));
  const { id: uploadId } = unwrap(await uploads.save(Readable.from([Buffer.from(text)]), "arithmetic questions.jsonl"));
  const names = new Set(store.prompts.list().flatMap((set) => (set.deleted ? [] : [set.name])));
  const name = freeName("Arithmetic questions", names);
  const { id } = unwrap(await prompts.sample({ uploadId, name, size: count, by: ["category"], draw: 1, retentionDays: null }, actor));
  keep({ promptSetId: id });
  return id;
}

/** Runs the profile to its end, or continues one that was begun. Pauses it when the set-up is stopped. */
async function profiled({ profiles }: QualityParts, context: StepContext, request: ProfileRequest): Promise<string> {
  const { actor, signal, record, keep, say } = context;
  const begun = record().profileId;
  const before = begun === null ? null : profiles.get(begun);
  const isUsable = before !== null && before.state !== "stopped" && before.request.promptSetId === request.promptSetId;
  const id = isUsable ? before.id : unwrap(await profiles.start(request, actor)).id;
  keep({ profileId: id });
  if (before?.state === "paused" && isUsable) unwrap(profiles.resume(id, undefined, actor));
  for (;;) {
    const job = profiles.get(id);
    if (job === null || job.state === "stopped") throw new SetupFailure("The profile was stopped: start again to ask the questions again.");
    if (job.state === "done") return id;
    if (job.state === "paused")
      throw new SetupFailure(`The profile is paused. ${job.pause?.reason ?? ""} Start again to continue it.`.replace("  ", " "));
    const { done, failed, planned } = job.total;
    say(`${done + failed} of ${planned} answers and scores`, planned === 0 ? null : (done + failed) / planned);
    try {
      await sleep(LOOK_MS, undefined, { signal });
    } catch (stopped) {
      if (signal.reason instanceof StoppedByPerson) profiles.pause(id, actor);
      throw stopped;
    }
  }
}

function requestOf(promptSetId: string, clusterId: string): ProfileRequest {
  const onCluster = (model: string) => ({
    model,
    at: { kind: "cluster", clusterId } as const,
    usdPerMillionInputTokens: 0,
    usdPerMillionOutputTokens: 0,
  });
  return {
    name: "Arithmetic on real models",
    promptSetId,
    models: realModelNames.map(onCluster),
    measures: [
      { id: confidence, name: "Confidence judge", kind: "rubric", judge: onCluster(JUDGE_MODEL), rubric: null, repeats: 1 },
      { id: right, name: "Right answer", kind: "exact", extract: "whole" },
    ],
    concurrency: CONCURRENCY,
    requestsPerMinute: null,
    capUsd: null,
    maxOutputTokens: MOST_OUTPUT_TOKENS,
    keepAnswers: false,
    gates: { confidence: true, samples: null },
  };
}
