import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answerer, Outcome, ProfileJob, ProfileRequest, SamplePrompts } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import type { Uploads } from "@/server/store/uploads";
import { arithmeticPrompts, arithmeticQuestions } from "@/solver/prompts/arithmeticQuestion";
import { freeName } from "./freeName";

const SEED = 28;
/** No answer has more tokens. */
const MOST_OUTPUT_TOKENS = 16;
const LOOK_MS = 500;

/** Calls at once to each model, and to the judge. */
export const CONCURRENCY = 6;

const confidence = "confidence";
const right = "right";

/** The services that prepare a workload, as the API offers them. */
export interface ArithmeticParts {
  readonly store: Pick<Store, "workloads" | "prompts">;
  readonly uploads: Pick<Uploads, "save">;
  readonly prompts: { sample(request: SamplePrompts, actor: string): Promise<Outcome<{ readonly id: string }>> };
  readonly profiles: {
    start(request: ProfileRequest, actor: string): Promise<Outcome<{ readonly id: string }>>;
    get(id: string): ProfileJob | null;
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

type Asked = Pick<Answerer, "model" | "at">;

export interface ArithmeticOrder {
  /** Of the profile and of the workload, which gets a number where the name is taken. */
  readonly name: string;
  readonly questions: number;
  /** Smallest first. */
  readonly models: readonly Asked[];
  readonly judge: Asked;
}

/** What is made on the way, by which an order that was interrupted is continued. */
interface Made {
  readonly promptSetId: string | null;
  readonly profileId: string | null;
}

export interface ArithmeticRun {
  readonly signal: AbortSignal;
  readonly actor: string;
  /** What an earlier run of the order made. */
  readonly made: Made;
  /** Keeps what was made, before anything is built on it. */
  keep(made: Partial<Made>): void;
  /** Shows how far it is. @param progress 0..1; null: not known. */
  say(text: string, progress?: number | null): void;
}

/**
 * Asks models questions of arithmetic whose answers are known, has a judge score each answer, and stores the outcomes as a workload: a sample
 * of prompts, a profile and a workload as an operator would make them.
 *
 * @throws the signal's reason if it aborts; the profile goes on.
 */
export async function arithmeticWorkload(
  parts: ArithmeticParts,
  order: ArithmeticOrder,
  run: ArithmeticRun,
): Promise<Outcome<{ readonly workloadId: string; readonly name: string }>> {
  const set = await questionSet(parts, order.questions, run);
  if (!set.ok) return set;
  const profile = await profiled(parts, requestOf(order, set.id), run);
  if (!profile.ok) return profile;
  const name = freeName(order.name, new Set(parts.store.workloads.list().map((one) => one.name)));
  const measured = { gate: confidence, label: right, arrivals: { kind: "generated" }, segments: [], timeZone: "UTC" } as const;
  const stored = await parts.profiles.toWorkload({ jobId: profile.id, name, ...measured }, run.actor);
  if (!stored.ok) return stored;
  const [workloadId = ""] = stored.ids;
  return { ok: true, workloadId, name };
}

async function questionSet(
  { store, uploads, prompts }: ArithmeticParts,
  count: number,
  { made, keep, actor, say }: ArithmeticRun,
): Promise<Outcome<{ readonly id: string }>> {
  const kept = made.promptSetId === null ? null : store.prompts.get(made.promptSetId);
  if (kept !== null && !kept.deleted) return { ok: true, id: kept.id };
  say("Writing the questions");
  const text = arithmeticPrompts(arithmeticQuestions(count, SEED));
  const saved = await uploads.save(Readable.from([Buffer.from(text)]), "arithmetic questions.jsonl");
  if (!saved.ok) return saved;
  const names = new Set(store.prompts.list().flatMap((set) => (set.deleted ? [] : [set.name])));
  const name = freeName("Arithmetic questions", names);
  const order = { uploadId: saved.id, name, size: count, by: ["category"] as const, draw: 1, retentionDays: null };
  const sampled = await prompts.sample(order, actor);
  if (sampled.ok) keep({ promptSetId: sampled.id });
  return sampled;
}

/** Runs the profile to its end, or continues one that was begun. */
async function profiled(
  { profiles }: ArithmeticParts,
  request: ProfileRequest,
  { actor, signal, made, keep, say }: ArithmeticRun,
): Promise<Outcome<{ readonly id: string }>> {
  const before = made.profileId === null ? null : profiles.get(made.profileId);
  const isUsable = before !== null && before.state !== "stopped" && before.request.promptSetId === request.promptSetId;
  const begun = isUsable ? ({ ok: true, id: before.id } as const) : await profiles.start(request, actor);
  if (!begun.ok) return begun;
  const { id } = begun;
  keep({ profileId: id });
  if (isUsable && before.state === "paused") {
    const resumed = profiles.resume(id, undefined, actor);
    if (!resumed.ok) return resumed;
  }
  for (;;) {
    const job = profiles.get(id);
    if (job === null || job.state === "stopped")
      return { ok: false, message: "The profile was stopped: start again to ask the questions again." };
    if (job.state === "done") return { ok: true, id };
    if (job.state === "paused")
      return { ok: false, message: ["The profile is paused.", job.pause?.reason, "Start again to continue."].filter(Boolean).join(" ") };
    const { done, failed, planned } = job.total;
    say(`${done + failed} of ${planned} answers and scores`, planned === 0 ? null : (done + failed) / planned);
    await sleep(LOOK_MS, undefined, { signal });
  }
}

function requestOf({ name, models, judge }: ArithmeticOrder, promptSetId: string): ProfileRequest {
  const unpaid = (asked: Asked): Answerer => ({ ...asked, usdPerMillionInputTokens: 0, usdPerMillionOutputTokens: 0 });
  return {
    name,
    promptSetId,
    models: models.map(unpaid),
    measures: [
      { id: confidence, name: "Confidence judge", kind: "rubric", judge: unpaid(judge), rubric: null, repeats: 1 },
      { id: right, name: "Right answer", kind: "exact", extract: "whole" },
    ],
    concurrency: CONCURRENCY,
    requestsPerMinute: null,
    capUsd: null,
    maxOutputTokens: MOST_OUTPUT_TOKENS,
    // Generated questions hold nothing personal, and a scorer learns from the texts.
    keepAnswers: true,
    gates: { confidence: true, samples: null },
  };
}
