import { MOST_TAU } from "../plan/planSlack";
import type { OrderDocument, PlaceDocument, PolicyDocument, SlackPolicy } from "../plan/policySchema";
import type { EngineFigures } from "./engineFigures";
import { kairosSystems } from "./kairosSystems";
import type { LabSystem } from "./labSpec";

/** A candidate model, with the figures of its engines. */
export interface SuggestedModel extends EngineFigures {
  readonly model: string;
  /** Share of prompts, 0..1, that it answers well, as known without any router; 0.5 where unknown. */
  readonly quality: number;
}

/** A system with its description, in a sentence. */
export type SuggestedSystem = LabSystem & { readonly about: string };

/** Slacks that are compared: a model's load may be (1 + tau) times the least. */
export const SLACKS = [0, 0.25, 0.5, 1, 2, 4, MOST_TAU] as const;

/** Slack of the variants of Chimera that differ in one part: a narrow one, at which load and router both decide. */
const MIDDLE_SLACK = 0.5;

/** At a wide slack load seldom decides, and the router decides instead: by how much higher a model's confidence must be there. */
const WIDE_SLACK = 2;
export const MARGINS = [0.05, 0.1, 0.2] as const;

/**
 * Work in a central queue goes first once its model's queue has released this multiple of the number that the engines of a model hold at
 * once: about the same multiple of the time that a request takes in a full batch has then passed.
 */
const AGING_TURNS = 10;

/**
 * A price of capacity: a model whose backlog is one floor of load must be worth two points more of confidence for each time that its work is
 * that of the cheapest. Smoothed over half a minute, a few times what a request takes.
 */
export const capacityPrice = { weight: 0.02, dampingSeconds: 30 } as const;

/** Maximum number of systems in a description. */
const MOST_SYSTEMS = 40;

/** Levels of feedback end at these seconds of service: a fraction of a request's, doubled from level to level. */
const MLFQ_LEVELS = 5;

const PLACE: PlaceDocument = { kind: "least-load" };
const FCFS: OrderDocument = { kind: "fcfs" };

/**
 * Chimera and the systems that its source compares it with, ready for a run on these engines: vLLM's balancing, feedback over levels
 * (MLFQ), in the queues alone and with preemption in the engines, shortest request first by learnt lengths (LTR), shortest program first by
 * true lengths, Chimera at seven slacks with no margin, as in the source, and at a wide one with three margins, with prices of
 * capacity, and with true lengths, true confidence or no router; then Kairos and the systems that its source compares it with (`kairosSystems.ts`), with the same balancing; then the given ones that choose models at dispatch; then
 * each model by itself, as far as there is room. Margins are fixed: the differences of a router's confidences are known only once it is
 * trained. Without a router they are the same for every prompt, and a margin has all or no effect. The floor of loads is the time in which
 * the fastest model decodes one request alone.
 *
 * @throws RangeError without models. With one there is nothing to route, and only orders are compared.
 */
export function suggestedSystems(models: readonly SuggestedModel[], chosen: readonly SuggestedSystem[] = []): readonly SuggestedSystem[] {
  const [first] = models;
  if (first === undefined) throw new RangeError("No model to suggest systems for");
  const balanced = (order: OrderDocument, place: PlaceDocument = PLACE): PolicyDocument => ({
    kind: "balanced",
    models: models.map(({ model, maxBatchSize }) => ({ model, maxBatchSize })),
    order,
    place,
  });
  const agingThreshold = AGING_TURNS * Math.max(...models.map(({ engines, maxBatchSize }) => engines * maxBatchSize));
  const sjf: OrderDocument = { kind: "sjf", agingThreshold };
  const stjf: OrderDocument = { kind: "stjf", agingThreshold };
  const fastest = Math.min(...models.map(({ unloadedSeconds }) => unloadedSeconds));
  const slack = (tau: number, deltaScore = 0): SlackPolicy => ({
    kind: "slack",
    models: models.map(({ model, decodeSecondsPerToken, maxBatchSize, quality }) => ({
      ...{ model, decodeSecondsPerToken, maxBatchSize },
      confidence: quality,
    })),
    tau,
    deltaScore,
    floorSeconds: fastest,
    order: stjf,
    place: PLACE,
    approvedRanges: { tau: { min: 0, max: MOST_TAU }, deltaScore: { min: 0, max: 1 } },
  });
  const mlfq: Extract<OrderDocument, { kind: "mlfq" }> = {
    kind: "mlfq",
    quantaSeconds: Array.from({ length: MLFQ_LEVELS }, (_, level) => (fastest / 2) * 2 ** level),
    agingThreshold,
  };
  const none = { lengths: "none", confidence: "none" } as const;
  const baselines: readonly SuggestedSystem[] = [
    {
      name: "vLLM balancing",
      policy: balanced(FCFS),
      ...none,
      about: "Each request to the model with the least waiting and running, in the order of arrival.",
    },
    {
      name: "MLFQ",
      policy: balanced(mlfq),
      ...none,
      about: "Balanced alike; programs that have had much service wait behind those that have had little.",
    },
    {
      name: "MLFQ, preempting",
      policy: balanced({ ...mlfq, preempts: true }),
      ...none,
      about: "The same levels, counted in the engines while a request runs: it is taken out for one of a higher level.",
    },
    {
      name: "LTR",
      policy: balanced(sjf),
      lengths: "learnt",
      confidence: "none",
      about: "Balanced alike; the shortest request first, by a learnt length.",
    },
    {
      name: "STJF oracle",
      policy: balanced(stjf),
      lengths: "oracle",
      confidence: "none",
      about: "Balanced alike; the program with the least left to write first, by its true length.",
    },
  ];
  const chimera: readonly SuggestedSystem[] =
    models.length < 2
      ? []
      : [
          ...SLACKS.map(
            (tau): SuggestedSystem => ({
              name: "Chimera",
              policy: slack(tau),
              lengths: "learnt",
              confidence: "learnt",
              about: `The surest model whose load is at most ${1 + tau} times the least; the program with the least left to write first. Lengths and confidence are learnt.`,
            }),
          ),
          ...MARGINS.map(
            (margin): SuggestedSystem => ({
              name: `Chimera at slack ${WIDE_SLACK}`,
              policy: slack(WIDE_SLACK, margin),
              lengths: "learnt",
              confidence: "learnt",
              about: `Chimera at slack ${WIDE_SLACK} that leaves the least loaded model only for one that is surer by ${margin} or more, prompt by prompt.`,
            }),
          ),
          {
            name: "Chimera, priced",
            policy: { ...slack(MOST_TAU), price: capacityPrice },
            lengths: "learnt",
            confidence: "learnt",
            about: `Chimera at slack ${MOST_TAU}, where busy models have a price in confidence: a dual price from their backlog.`,
          },
          {
            name: "Chimera, oracle lengths",
            policy: slack(MIDDLE_SLACK),
            lengths: "oracle",
            confidence: "learnt",
            about: "Chimera at slack 0.5 with true lengths.",
          },
          {
            name: "Chimera, oracle router",
            policy: slack(MIDDLE_SLACK),
            lengths: "learnt",
            confidence: "oracle",
            about: "Chimera at slack 0.5 that knows which model is right.",
          },
          ...[MIDDLE_SLACK, WIDE_SLACK].map(
            (tau): SuggestedSystem => ({
              name: "Chimera, no router",
              policy: slack(tau),
              lengths: "learnt",
              confidence: "none",
              about: `Chimera at slack ${tau} without a router: the model that is best over all prompts, where its load allows.`,
            }),
          ),
        ];
  const alone = models.map(
    ({ model }): SuggestedSystem => ({
      name: `${model} alone`,
      policy: { kind: "fixed", model, order: FCFS, place: PLACE },
      ...none,
      about: `Every request to ${model}, in the order of arrival; engines of other models stand idle.`,
    }),
  );
  // With one model there is nothing to balance: a plan would name the model.
  const routed = (order: OrderDocument, place: PlaceDocument): PolicyDocument =>
    models.length === 1 ? { kind: "fixed", model: first.model, order, place } : balanced(order, place);
  return [...baselines, ...chimera, ...kairosSystems(routed, agingThreshold), ...chosen, ...alone].slice(0, MOST_SYSTEMS);
}
