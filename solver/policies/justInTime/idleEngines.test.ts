import * as fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { JustInTimePolicy, PlaceDocument } from "@/solver/plan/policySchema";
import { addConfiguration, emptySet } from "@/solver/workflow/configurationSet";
import { buildPolicy } from "../buildPolicy";
import { MOST_HELD, MOST_WEIGHED, type Policy, type ReplicaView, type WaitingWork } from "../core/policy";
import { declared, justInTime } from "../testing/testJustInTime";
import { MOST_TRIED } from "./exhaustiveRound";
import { RoundLog } from "./roundLog";
import { WorthChoice } from "./worthChoice";

const MODELS = ["small", "medium", "large"];
const SEATS = 4;
const RUNS = 30;
const single = declared("single", [{ name: "only" }]);

/** Models that a call may have, as indices. That of the largest models is always accurate: a single request has the small one alone. */
const CHOICES = [[0], [2], [0, 2], [1, 2], [0, 1, 2]] as const;

interface Queue {
  /** Calls in the order in which they came, in runs that are alike. */
  readonly runs: readonly { readonly choice: number; readonly calls: number; readonly inputTokens: number }[];
  /** By model, calls that its one replica has already. */
  readonly inFlight: readonly number[];
}

const anyQueue: fc.Arbitrary<Queue> = fc.record({
  runs: fc.array(
    fc.record({
      choice: fc.nat(CHOICES.length - 1),
      calls: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: MOST_WEIGHED + 50 })),
      inputTokens: fc.integer({ min: 1, max: 900 }),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  inFlight: fc.array(fc.nat(SEATS), { minLength: 3, maxLength: 3 }),
});

const beam = { kind: "beam", width: 4 } as const;
const worth = { kind: "worth", rightSeconds: 0, delayWeight: 1 } as const;
const selections: readonly JustInTimePolicy["selection"][] = [
  beam,
  { kind: "exhaustive" },
  { kind: "cheapest" },
  { kind: "quickest", when: "arrival" },
  { kind: "quickest", when: "stage" },
  worth,
];
const places: readonly PlaceDocument[] = [{ kind: "least-load" }, { kind: "time-slots" }];

/** A policy whose replicas have so many calls in flight, of that many tokens each, that its place knows. */
function policyOf(selection: JustInTimePolicy["selection"], place: PlaceDocument, inFlight: readonly number[], tokens = 200): Policy {
  const policy = buildPolicy(
    justInTime(selection, { workflows: [{ workflow: single }], singles: { kind: "fixed", model: "small" }, place }),
  );
  for (const [model, replicaId] of MODELS.entries())
    for (let has = 0; has < (inFlight[model] ?? 0); has += 1) {
      // Other models are full: every call with a choice goes to this one.
      const loads = MODELS.map((_, other) => (other === model ? has : SEATS));
      const waiting = [callOf(`before ${model} ${has}`, model === 1 ? [1, 2] : [model], tokens)];
      for (const { workId } of policy.decide({ nowSeconds: 0, waiting, replicas: replicasOf(loads) }))
        policy.observe({ kind: "dispatched", workId, programId: workId, replicaId, nowSeconds: 0 });
    }
  return policy;
}

function callOf(id: string, models: readonly number[], inputTokens: number): WaitingWork {
  const work = { id, programId: id, programArrivalSeconds: 0, queuedSinceSeconds: 0, inputTokens, state: { kind: "queued" as const } };
  if (!models.includes(2)) return { ...work, stage: 0 };
  const accurate = emptySet(MODELS.length);
  for (const model of models) addConfiguration(accurate, model);
  return { ...work, stage: 3, call: { workflow: "single", agent: "only" }, accurate };
}

const replicasOf = (inFlight: readonly number[]): readonly ReplicaView[] =>
  MODELS.map((model, at) => ({
    ...{ id: model, model, inFlight: inFlight[at] ?? 0, maxInFlight: SEATS, accepting: true, kvTokens: 1000 },
    kvUse: { state: "fresh", value: 0.5, ageSeconds: 0 },
    preemptions: { state: "fresh", value: 0, ageSeconds: 0 },
  }));

/** Decides about a queue; the calls that still wait with the models they may have, and what each model has then. */
function decided(policy: Policy, { runs, inFlight }: Queue) {
  const calls = runs.flatMap(({ choice, calls: count, inputTokens }, run) =>
    Array.from({ length: count }, (_, at) => {
      const models = CHOICES[choice] ?? CHOICES[0];
      return { models, work: callOf(`w${run} ${at}`, models, inputTokens) };
    }),
  );
  const waiting = calls.map(({ work }) => work);
  for (const work of waiting) policy.observe({ kind: "queued", work });
  const actions = policy.decide({ nowSeconds: 1, waiting, replicas: replicasOf(inFlight) });
  const sent = new Map(actions.flatMap((action) => (action.kind === "dispatch" ? [[action.workId, action.replicaId] as const] : [])));
  expect(sent.size).toBe(actions.length);
  const has = [...inFlight];
  for (const replicaId of sent.values()) has[MODELS.indexOf(replicaId)]! += 1;
  return { has, left: calls.filter(({ work }) => !sent.has(work.id)).map(({ models }) => models), queued: waiting.length };
}

afterEach(() => vi.restoreAllMocks());

for (const selection of selections)
  for (const place of places) {
    const name = `${selection.kind}${selection.kind === "quickest" ? ` at ${selection.when}` : ""}, ${place.kind}`;
    const chooses = selection.kind === "beam" || selection.kind === "exhaustive";

    it(`no model stays idle while a call waits that may go there, behind a queue of any length: ${name}`, () => {
      fc.assert(
        fc.property(anyQueue, (queue) => {
          const { has, left } = decided(policyOf(selection, place, queue.inFlight), queue);
          // Time slots hold calls back that do not fit; an idle replica takes any.
          const open = (model: number): boolean => (place.kind === "time-slots" ? has[model] === 0 : (has[model] ?? 0) < SEATS);
          for (const models of left) {
            // Bound calls have one of their models; by worth a call waits for a full one that it prefers.
            const must = chooses || models.length === 1 || (selection.kind === "worth" && models.every((model) => has[model]! < SEATS));
            if (must) expect(models.filter(open)).toEqual([]);
          }
        }),
        { numRuns: RUNS },
      );
    });
  }

for (const selection of [beam, { kind: "exhaustive" }, worth] as const)
  it(`what does not fit at one model goes to another that it may have, and bars none however much of it there is: ${selection.kind}`, () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3 * MOST_HELD }), (chats) => {
        // The small model has 750 of its 1,000 tokens in use, and no room for 300 more; the others are idle.
        const runs = [
          { choice: 0, calls: chats, inputTokens: 300 },
          { choice: 2, calls: 1, inputTokens: 300 },
          { choice: 3, calls: 1, inputTokens: 300 },
        ];
        const { has, left } = decided(policyOf(selection, { kind: "time-slots" }, [1, 0, 0], 750), { runs, inFlight: [1, 0, 0] });
        expect(has[0]).toBe(1);
        expect(left).toHaveLength(chats);
      }),
      { numRuns: RUNS },
    );
  });

describe("what a decision weighs has a bound that does not depend on the length of the queue", () => {
  for (const place of places) {
    it(`by worth, but for a logarithm of it: ${place.kind}`, () => {
      fc.assert(
        fc.property(anyQueue, (queue) => {
          const policy = policyOf(worth, place, queue.inFlight);
          const choose = vi.spyOn(WorthChoice.prototype, "choose");
          const { has, queued } = decided(policy, queue);
          const sent = has.reduce((sum, count, model) => sum + count - (queue.inFlight[model] ?? 0), 0);
          const weighed = choose.mock.calls.length;
          choose.mockRestore();
          // One more of its set may be weighed after each that is sent.
          const again = CHOICES.length * (16 + 17 * Math.log(1 + queued));
          expect(weighed).toBeLessThanOrEqual(MOST_WEIGHED + 2 * sent + MODELS.length * MOST_HELD * MODELS.length + again);
        }),
        { numRuns: RUNS },
      );
    });

    for (const [selection, most] of [
      [beam, MOST_WEIGHED],
      [{ kind: "exhaustive" }, MOST_TRIED],
    ] as const)
      it(`in rounds of bounded length, as many as calls are sent and held back: ${selection.kind}, ${place.kind}`, () => {
        fc.assert(
          fc.property(anyQueue, (queue) => {
            const policy = policyOf(selection, place, queue.inFlight);
            const note = vi.spyOn(RoundLog.prototype, "note");
            decided(policy, queue);
            const rounds = note.mock.calls.map(([{ requests }]) => requests.length);
            note.mockRestore();
            expect(Math.max(0, ...rounds)).toBeLessThanOrEqual(most);
            expect(rounds.length).toBeLessThanOrEqual(1 + MODELS.length * (SEATS + MOST_HELD));
          }),
          { numRuns: RUNS },
        );
      });
  }
});

describe("by worth, of calls that all prefer to wait for one model", () => {
  /** One engine each; the small one writes a call's tokens in a second, eight at once as fast, and the large one in `slower`. */
  const seats = 8;
  const policyOfTwo = (slower: number) =>
    buildPolicy(
      justInTime(
        { ...worth, delayWeight: 0 },
        {
          models: [1, slower].map((seconds, at) => ({
            ...{ model: at === 0 ? "small" : "large", cost: at + 1, saturationBatch: seats, meanOutputTokens: 100 },
            throughput: [
              { batch: 1, tokensPerSecond: 100 / seconds },
              { batch: seats, tokensPerSecond: (100 * seats) / seconds },
            ],
          })),
          workflows: [{ workflow: single }],
        },
      ),
    );
  const either = (id: string): WaitingWork => ({
    ...{ id, programId: id, stage: 1, programArrivalSeconds: 0, queuedSinceSeconds: 0, inputTokens: 1, state: { kind: "queued" } },
    ...{ call: { workflow: "single", agent: "only" }, accurate: Uint32Array.of(0b11) },
  });
  const replicas = ["small", "large"].map(
    (model, at): ReplicaView => ({
      ...{ id: model, model, inFlight: at === 0 ? seats : 0, maxInFlight: seats, accepting: true },
      kvUse: { state: "absent" },
    }),
  );

  it("one that may have a free model only is sent there, however many stand before it", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4 * MOST_WEIGHED }), (others) => {
        const last: WaitingWork = { ...either("last"), accurate: Uint32Array.of(0b10) };
        const waiting = [...Array.from({ length: others }, (_, at) => either(`${at}`)), last];
        const sent = policyOfTwo(1000).decide({ nowSeconds: 1, waiting, replicas });
        expect(sent).toMatchObject([{ workId: "last", replicaId: "large" }]);
      }),
      { numRuns: RUNS },
    );
  });

  it("those go to a free one that stand so far behind that they are answered there sooner, a sixteenth of the line late at most", () => {
    fc.assert(
      fc.property(fc.double({ min: 1.2, max: 250, noNaN: true }), (slower) => {
        // A slot of the small engine is free each eighth of a second.
        const first = Math.max(0, Math.floor(seats * (slower - 1) - 1) + 1);
        const latest = first < MOST_WEIGHED ? first : Math.ceil(first * (17 / 16)) + 1;
        const waiting = Array.from({ length: latest + seats }, (_, at) => either(`${at}`));
        const sent = policyOfTwo(slower).decide({ nowSeconds: 1, waiting, replicas });
        const places = sent.map(({ workId }) => Number(workId));
        expect(sent.every((action) => action.kind === "dispatch" && action.replicaId === "large")).toBe(true);
        expect(places).toHaveLength(seats);
        expect(places[0]).toBeGreaterThanOrEqual(first);
        expect(places[0]).toBeLessThanOrEqual(latest);
      }),
    );
  });
});
