import type { SlackPolicy } from "@/solver/plan/policySchema";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { encodeArtefact } from "@/solver/prediction/artefact";
import { trainConfidence } from "@/solver/prediction/confidence";
import { trainConfigurations } from "@/solver/prediction/configurations";
import { trainLengths } from "@/solver/prediction/lengths";
import type { RequestFacts } from "@/solver/prediction/predictor";
import { sketchOf } from "@/solver/words/sketch";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { sha256 } from "../prediction/artifactStore";
import type { AdminPort } from "./testGateway";

/** Prompts of two kinds, distinguishable by their words, and for each model its answer length and whether it is right. */
const kinds = [
  { words: "weather rain cloud", requestTokens: 10, remainingTokens: 20, right: [1, 0] },
  { words: "history empire war", requestTokens: 1000, remainingTokens: 4000, right: [0, 1] },
] as const;

export const shortText = (name: string): string => `${name} weather rain cloud`;
export const longText = (name: string): string => `${name} history empire war`;

const models = ["small", "large"];
const rows = Array.from({ length: 200 }, (_, row) => ({ kind: kinds[row % 2] ?? kinds[0], facts: factsOf(row) }));

function factsOf(row: number): RequestFacts {
  const { words } = kinds[row % 2] ?? kinds[0];
  const sketch = sketchOf(`q${row % 7} ${words}`);
  return { instructionTokens: 0, promptTokens: 6, inputTokens: 6, workflow: "", stage: "", sketch };
}

/** A trained predictor with its hash. */
export interface TestArtefact {
  readonly hash: string;
  readonly bytes: Uint8Array;
}

const artefact = (bytes: Uint8Array): TestArtefact => ({ hash: sha256(bytes), bytes });

/** Trained on both kinds, so that it separates short from long; another seed gives another hash. */
export function testLengths(seed = 1, of: readonly string[] = models): TestArtefact {
  const facts = rows.map((row) => row.facts);
  const requestTokens = Float32Array.from(rows, ({ kind }) => kind.requestTokens);
  const remainingTokens = Float32Array.from(rows, ({ kind }) => kind.remainingTokens);
  const trained = trainLengths({ prompts: 14, models: of.map((model) => ({ model, facts, requestTokens, remainingTokens })) }, { seed });
  return artefact(encodeArtefact(trained));
}

/** Confident in the small model for short prompts, and in the large one for long. */
export function testConfidence(of: readonly string[] = models): TestArtefact {
  const right = of.map((_, at) => Float32Array.from(rows, ({ kind }) => kind.right[at] ?? 0));
  return artefact(encodeArtefact(trainConfidence({ models: of, facts: rows.map((row) => row.facts), right }, { seed: 1 })));
}

/**
 * For short prompts any configuration is accurate, for long ones only that of the largest models.
 *
 * @param chance that a configuration is accurate for a short prompt, by its place among all, 0 the smallest and 1 the largest models; left out:
 * always.
 */
export function testConfigurations(
  workflow: WorkflowDocument,
  of: readonly string[],
  chance: (place: number) => number = () => 1,
): TestArtefact {
  const space = configurationSpace(workflow, of);
  const last = space.size - 1;
  const every = rows.flatMap(({ kind }) =>
    Array.from({ length: space.size }, (_, at) => (at === last ? 1 : kind === kinds[0] ? chance(at / last) : 0)),
  );
  const trained = trainConfigurations(
    {
      ...{ workflow, space, prompts: Int32Array.from(rows.keys()), facts: rows.map((row) => row.facts) },
      programs: new Float32Array(rows.length).fill(1),
      accurate: Float32Array.from(every),
      loss: Float32Array.from(every, (accurate) => (accurate > 0 ? 0 : 100)),
    },
    { seed: 1 },
  );
  return artefact(encodeArtefact(trained));
}

export const putArtefact = ({ adminUrl, adminHeaders = {} }: AdminPort, { hash, bytes }: TestArtefact): Promise<Response> =>
  fetch(`${adminUrl}/artefacts/${hash}`, {
    method: "PUT",
    headers: { "content-type": "application/json", ...adminHeaders },
    body: new Uint8Array(bytes),
  });

/** Slack dispatch over a small and a large model, by these predictors. */
export const slackBy = (learnt: SlackPolicy["learnt"], of: readonly string[] = models): SlackPolicy => ({
  kind: "slack",
  models: of.map((model) => ({ model, decodeSecondsPerToken: 0.01, maxBatchSize: 10, confidence: 0.5 })),
  tau: 1000,
  deltaScore: 0.1,
  floorSeconds: 1,
  order: { kind: "stjf", agingThreshold: 100 },
  place: { kind: "least-load" },
  ...(learnt !== undefined && { learnt }),
  approvedRanges: { tau: { min: 0, max: 1000 }, deltaScore: { min: 0, max: 1 } },
});
