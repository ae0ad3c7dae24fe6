import type { SlackPolicy } from "@/solver/plan/policySchema";
import { encodeArtefact } from "@/solver/prediction/artefact";
import { trainConfidence } from "@/solver/prediction/confidence";
import { trainLengths } from "@/solver/prediction/lengths";
import type { RequestFacts } from "@/solver/prediction/predictor";
import { sketchOf } from "@/solver/prediction/sketch";
import { sha256 } from "./artefactShelf";
import type { TestGateway } from "./testGateway";

/** Prompts of two kinds, told apart by their words, and what each model writes to them and right to them. */
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

/** Trained on both kinds, so that it tells short from long; another seed gives another hash. */
export function testLengths(seed = 1, of: readonly string[] = models): TestArtefact {
  const facts = rows.map((row) => row.facts);
  const requestTokens = Float32Array.from(rows, ({ kind }) => kind.requestTokens);
  const remainingTokens = Float32Array.from(rows, ({ kind }) => kind.remainingTokens);
  const trained = trainLengths({ prompts: 14, models: of.map((model) => ({ model, facts, requestTokens, remainingTokens })) }, { seed });
  return artefact(encodeArtefact(trained));
}

/** Sure of the small model for short prompts, and of the large one for long. */
export function testConfidence(of: readonly string[] = models): TestArtefact {
  const right = of.map((_, at) => Float32Array.from(rows, ({ kind }) => kind.right[at] ?? 0));
  return artefact(encodeArtefact(trainConfidence({ models: of, facts: rows.map((row) => row.facts), right }, { seed: 1 })));
}

export const putArtefact = ({ adminUrl }: TestGateway, { hash, bytes }: TestArtefact): Promise<Response> =>
  fetch(`${adminUrl}/artefacts/${hash}`, { method: "PUT", body: new Uint8Array(bytes) });

/** Slack dispatch over a small and a large model, by these predictors. */
export const slackBy = (learnt: SlackPolicy["learnt"], of: readonly string[] = models): SlackPolicy => ({
  kind: "slack",
  models: of.map((model) => ({ model, decodeSecondsPerToken: 0.01, maxBatchSize: 10, confidence: 0.5 })),
  tau: 1000,
  deltaScore: 0.1,
  floorSeconds: 1,
  order: { kind: "stjf", agingReleases: 100 },
  place: { kind: "least-load" },
  ...(learnt !== undefined && { learnt }),
  approvedRanges: { tau: { min: 0, max: 1000 }, deltaScore: { min: 0, max: 1 } },
});
