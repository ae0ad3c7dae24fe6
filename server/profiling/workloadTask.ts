import type { Outcome, ProfileRequest } from "@/server/contracts/studio";
import type { ArrivalsPart } from "@/server/planning/arrivals/resolveArrivals";
import type { StoredProfile } from "@/server/store/profileRepository";
import type { Store } from "@/server/store/store";
import { type PackedWorkload, packWorkload } from "@/server/workloads/packWorkload";
import type { ModelCard } from "@/solver/hardware/modelCard";
import { conversationText } from "@/solver/judging/conversation";
import { sharedPrompts } from "@/solver/prefix/sharedPrompts";
import { buildWorkload } from "@/solver/workload/buildWorkload";
import type { WorkloadOrigin } from "@/solver/workload/workload";
import { comparedPart, confidenceReading } from "./gateReadings";
import { countedScore } from "./measures/readings";
import { type ProfiledPeer, peerProblem, peerReadings } from "./peerAgreement";
import { profileTable, replayableIds } from "./profileTable";
import { type ProfileTexts, type ScorerProgress, withTextScorers } from "./textScorers";

export type { ScorerProgress } from "./textScorers";

/** As of workloads that are imported. */
const workloadSeed = 1;

/** Prompts that are read at once: a few ten thousand calls. A read that took longer would keep the log of the store from being emptied. */
const PROMPTS_A_READ = 500;

/** Input of a thread that makes workloads from a profile. */
export interface WorkloadTask {
  /** The store's. */
  readonly file: string;
  readonly jobId: string;
  readonly gate: string;
  readonly label: string;
  /** A model of the profile whose answers those of the others are compared with; null: samples are, where there are any. */
  readonly peer: ProfiledPeer | null;
  /** One workload each. */
  readonly named: readonly { readonly name: string; readonly arrivals: ArrivalsPart }[];
  readonly models: Readonly<Record<string, ModelCard>>;
  /** Whether the engines that answered were emulated. */
  readonly emulated: boolean;
}

export type MadeWorkloads = Outcome<{
  readonly workloads: readonly PackedWorkload[];
  readonly origin: string;
  readonly leftOut: number;
}>;

type Reading<Row> = (from: number, before: number) => readonly Row[];

function* inParts<Row>(count: number, read: Reading<Row>): Generator<Row> {
  for (let from = 0; from < count; from += PROMPTS_A_READ) yield* read(from, from + PROMPTS_A_READ);
}

/** The texts of a profile that are stored. @param ids of its prompts in a table, by position. */
function profileTexts(
  { profiles, prompts }: Pick<Store, "profiles" | "prompts">,
  profile: StoredProfile,
  ids: readonly string[],
): ProfileTexts {
  const inOrder = <Row>(read: Reading<Row>) => inParts(ids.length, read);
  const texts = new Map<string, string>();
  if (profile.request.keepAnswers)
    for (const { position, prompt } of inOrder((from, before) => prompts.some(profile.promptSetId, from, before)))
      texts.set(ids[position] ?? "", conversationText(prompt.body.messages));
  return {
    prompt: (id) => texts.get(id) ?? null,
    answersOf(model) {
      const answers = new Map<string, string>();
      if (texts.size > 0)
        for (const { position, answer } of inOrder((from, before) => profiles.answerTexts(profile.id, { model, from, before })))
          answers.set(ids[position] ?? "", answer);
      return (id) => answers.get(id) ?? null;
    },
  };
}

/** What the columns of agreement compare; nothing where there are none. */
function agreementOf(request: ProfileRequest, peer: ProfiledPeer | null): Pick<WorkloadOrigin, "agreement"> {
  if (peer !== null) return { agreement: { answer: peer.answer, peers: [peer.model] } };
  const { samples } = request.gates;
  return samples === null ? {} : { agreement: { answer: comparedPart(request), samples } };
}

/** Makes workloads of a profile, ready to be stored. */
export function makeWorkloads(
  { profiles, prompts }: Pick<Store, "profiles" | "prompts">,
  task: WorkloadTask,
  onProgress: (progress: ScorerProgress) => void,
): MadeWorkloads {
  const { jobId, gate, label, peer, models, emulated, named } = task;
  const profile = profiles.get(jobId);
  if (profile === null) return { ok: false, message: `There is no profile ${jobId}.` };
  const comparable = peer === null ? null : peerProblem(profile.request, peer, profiles.hasAnswers(jobId));
  if (comparable?.ok === false) return comparable;
  const set = prompts.get(profile.promptSetId);
  const count = set?.prompts ?? 0;
  const inOrder = <Row>(read: Reading<Row>) => inParts(count, read);
  const names = new Map([...inOrder((from, before) => prompts.names(profile.promptSetId, from, before))].map((one) => [one.position, one]));
  const compared = (of: ProfiledPeer) => {
    const asked = profile.request.models.map(({ model }) => model);
    return inOrder((from, before) => [...peerReadings(asked, of, (model) => profiles.answerTexts(jobId, { model, from, before }))]);
  };
  const table = profileTable({
    ...{ profile, promptSetName: set?.name ?? "", prompts: count, gate, label, countedScore, models, emulated },
    promptOf: (position) => names.get(position) ?? null,
    answers: inOrder((from, before) => profiles.answers(jobId, from, before)),
    readingsOf: (measureId) => inOrder((from, before) => profiles.readings(jobId, measureId, from, before)),
    peer: peer === null ? null : { model: peer.model, readings: compared(peer) },
  });
  if (!table.ok) return table;
  const measureOf = (id: string) => ({ id, name: profile.request.measures.find((measure) => measure.id === id)?.name ?? id });
  const reading = confidenceReading(profile.request);
  // Earlier workloads do not say so of the smallest probability, and keep their hashes.
  const confidence = reading.measure === "minimum" ? {} : { confidence: reading };
  const texts = profileTexts(
    { profiles, prompts },
    profile,
    replayableIds(Array.from({ length: count }, (_, at) => names.get(at)?.id ?? "")),
  );
  const promptBlocks = sharedPrompts(table.table.promptIds.map(texts.prompt));
  const outcomes = {
    ...{ ...table, measured: { emulated, gate: measureOf(gate), label: measureOf(label) } },
    ...withTextScorers(
      promptBlocks === undefined ? table.table : { ...table.table, promptBlocks },
      texts,
      { seed: workloadSeed, ...confidence },
      onProgress,
    ),
    ...agreementOf(profile.request, peer),
    ...confidence,
  };
  const workloads = named.map(({ name, arrivals }) =>
    packWorkload(buildWorkload({ name, outcomes, arrivals, judgeAuc: null, seed: workloadSeed })),
  );
  return { ok: true, workloads, origin: table.origin, leftOut: table.leftOut };
}
