import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Confidence } from "@/solver/ensemble/gate/ensembleDocument";
import type { Vote } from "@/solver/ensemble/gate/gate";
import { decideNode, type NodeDecision } from "@/solver/ensemble/gate/nodeGate";
import type { JustInTimePolicy, PolicyDocument } from "@/solver/plan/policySchema";
import { addConfiguration, emptySet } from "@/solver/workflow/configurationSet";
import { buildPolicy } from "./buildPolicy";
import type { Policy, ReplicaView, WaitingWork } from "./core/policy";
import { MODELS } from "./testing/drivenPolicies";
import type { RecordedSetting, RecordedTurn } from "./testing/recordedEvents";
import { RecordedStream } from "./testing/recordedStream";
import { declared, justInTime } from "./testing/testJustInTime";

/** The lines of a record: `testing/recorded/README.md` says how it was made. */
function recorded<Setting, Line>(name: string): { readonly setting: Setting; readonly lines: readonly Line[] } {
  const text = readFileSync(new URL(`testing/recorded/${name}.jsonl`, import.meta.url), "utf8");
  const [setting, ...lines] = text.trimEnd().split("\n");
  return { setting: JSON.parse(setting ?? ""), lines: lines.map((line) => JSON.parse(line)) };
}

/** Decides by the gates of a policy's workflows, once an agent's inputs have all voted. */
function gateOf(policy: PolicyDocument): ((votes: readonly Vote[]) => NodeDecision | null) | undefined {
  const agents = policy.kind === "just-in-time" ? policy.workflows.flatMap(({ workflow }) => workflow.agents) : [];
  const gated = agents.find(({ skip }) => skip !== undefined);
  if (gated?.skip === undefined) return undefined;
  const { skip, reads } = gated;
  return (votes) => {
    const read = reads.flatMap((agent) => votes.find(({ expert }) => expert === agent) ?? []);
    return read.length < reads.length ? null : decideNode(skip, read);
  };
}

/** Expects that the joint policy decides as recorded, turn by turn. Returns all that was recorded. */
function expectAsRecorded(name: string): { readonly events: number; readonly decided: readonly string[] } {
  const { setting, lines } = recorded<RecordedSetting, RecordedTurn>(name);
  const stream = new RecordedStream({ policy: buildPolicy(setting.policy), setting, gate: gateOf(setting.policy) });
  for (const [at, [seconds, events, decided]] of lines.entries())
    expect({ turn: at + 1, decided: stream.turn(seconds, events) }).toEqual({ turn: at + 1, decided });
  return { events: lines.reduce((sum, [, events]) => sum + events.length, 0), decided: lines.flatMap(([, , decided]) => decided) };
}

interface Seed {
  readonly system: string;
  /** What is recorded of it. */
  readonly records: readonly string[];
  /** Parts of decisions: each branch of the system is in its record. */
  readonly branches: readonly string[];
}

const seeds: readonly Seed[] = [
  {
    system: "Cascadia: a route by thresholds, first come, first served, no choice",
    records: ["cascadia", "cascadia-direct"],
    branches: [
      ...["first-stage", "last-stage", "score-at-or-above-threshold", "score-below-threshold", "accept judge-unavailable"],
      ...["escalate to 2 judge-unavailable", "router-score-high-enough", "no-router-score-high-enough", "no-router-score-of-small"],
      ...["for first-stage", "for router-score-high-enough", "escalate to 2 stage-skipped", "skip to 1 stage-skipped"],
      ...["escalate to 1 lower-stage", "accept lower-stage", "refuse no-stage"],
    ],
  },
  {
    system: "Chimera: a route by slack over learnt lengths and confidence, the shortest total job first, no choice",
    records: ["chimera", "chimera-changing"],
    branches: [
      ...["least-loaded", "surer-within-slack", "program-keeps-its-model", " key ", "accept not-judged"],
      ...["stage-skipped", "lower-stage"],
    ],
  },
  {
    system: "Aragog: a choice by a beam of width 4 among accurate configurations of several agents, no route",
    records: ["aragog", "aragog-scored"],
    branches: [
      ...["model-chosen-at-dispatch", " at 0", " at 1", " at 2", "refuse no-configuration"],
      ...["accept not-judged", "accept scored-for-later-agents", "accept no-gate-score"],
    ],
  },
  {
    system: "Kairos: the order of workflows, evaluated anew as more is learnt, over time slots, one model",
    records: ["kairos"],
    branches: ["first-stage", "only-model", " key ", "no-fresh-telemetry", "asks at ", "due "],
  },
  {
    system: "MOSAIC: experts on fixed models, and an aggregator that is skipped where they agree",
    records: ["mosaic"],
    branches: ["asks its aggregator, votes ", "gives the answer of first, votes ", "gives the answer of second, votes "],
  },
];

describe("the joint policy with the other parts left out decides as the system's own implementation did", () => {
  for (const { system, records, branches } of seeds)
    it(system, () => {
      const streams = records.map(expectAsRecorded);
      const decided = streams.flatMap((stream) => stream.decided);
      expect(branches.filter((branch) => !decided.some((line) => line.includes(branch)))).toEqual([]);
      expect(decided.filter((line) => !/^(asks|due)/.test(line)).length).toBeGreaterThanOrEqual(500);
    });

  it("MOSAIC's gate: the node is skipped for the same answer at the same confidence, under each weighting of votes", () => {
    type Gate = { readonly confidence: Confidence; readonly tau: number };
    type Question = readonly [gate: number, votes: readonly (string | null)[], outputTokens: readonly number[], decided: string];
    const { setting, lines } = recorded<{ readonly experts: readonly string[]; readonly gates: readonly Gate[] }, Question>("mosaic-gates");
    const { experts, gates } = setting;
    for (const [gate, votes, outputTokens, expected] of lines) {
      const read = experts.map((expert, at): Vote => ({ expert, vote: votes[at] ?? null, outputTokens: outputTokens[at] ?? 0 }));
      const { confidence, votes: counted, ...decision } = decideNode(gates[gate] as Gate, read);
      const what = decision.kind === "skip-node" ? `skip for ${decision.agent}` : "aggregate";
      expect(`${what} ${counted} ${Math.round(1e6 * confidence) / 1e6}`).toBe(expected);
    }
    expect(lines.length).toBeGreaterThanOrEqual(500);
  });
});

const SATURATION = 4;
/** Whole numbers, so that sums of gains are exact. */
const curves = [
  [300, 500, 600, 640],
  [200, 320, 400, 440],
  [100, 180, 240, 280],
];
const pair = declared("pair", [{ name: "only" }]);

const anyRound = fc.record({
  arrivals: fc.array(fc.array(fc.constantFrom(0, 1), { maxLength: 2 }), { maxLength: 6 }),
  ends: fc.array(fc.nat(20), { maxLength: 4 }),
});

/**
 * Aragog with a beam of width 1, written plainly (section 3.2): request by request, in the order in which programs began, the free model
 * among those that are accurate for it which adds most tokens a second; of equal ones the smallest.
 */
function greedyRound(waiting: readonly { id: string; may: readonly number[] }[], inFlight: readonly number[]): Map<string, number> {
  const load = [...inFlight];
  const sent = new Map<string, number>();
  const tokens = (model: number, batch: number): number => (batch === 0 ? 0 : (curves[model]?.[batch - 1] ?? 0));
  for (const { id, may } of waiting) {
    let [best, most] = [-1, Number.NEGATIVE_INFINITY];
    for (const model of [0, 1, 2].filter((own) => may.includes(own) && (load[own] ?? 0) < SATURATION)) {
      const gain = tokens(model, (load[model] ?? 0) + 1) - tokens(model, load[model] ?? 0);
      if (gain > most) [best, most] = [model, gain];
    }
    if (best < 0) continue;
    load[best] = (load[best] ?? 0) + 1;
    sent.set(id, best);
  }
  return sent;
}

describe("the joint policy with a choice and no route", () => {
  it("decides as greedy rounds do by Aragog's paper: first come, first served among accurate models, the one that adds most throughput", () => {
    fc.assert(
      fc.property(fc.array(anyRound, { maxLength: 20 }), (turns) => {
        const models: JustInTimePolicy["models"] = MODELS.map((model, at) => ({
          ...{ model, cost: 4 ** at, saturationBatch: SATURATION },
          throughput: (curves[at] ?? []).map((tokensPerSecond, batch) => ({ batch: batch + 1, tokensPerSecond })),
        }));
        const policy: Policy = buildPolicy(justInTime({ kind: "beam", width: 1 }, { models, workflows: [{ workflow: pair }] }));
        let waiting: { id: string; may: readonly number[]; work: WaitingWork }[] = [];
        const flying: { id: string; model: number }[] = [];
        let came = 0;
        for (const [turn, { arrivals, ends }] of turns.entries()) {
          for (const at of ends) {
            const [done] = flying.splice(at % Math.max(1, flying.length), 1);
            if (done === undefined) continue;
            const finished = { workId: done.id, replicaId: MODELS[done.model] ?? "", nowSeconds: turn, failed: false };
            policy.observe({ kind: "finished", ...finished });
            policy.observe({ kind: "ended", programId: done.id });
          }
          for (const accurate of arrivals) {
            const id = `w${came++}`;
            const set = emptySet(MODELS.length);
            for (const model of accurate) addConfiguration(set, model);
            const work: WaitingWork = {
              ...{ id, programId: id, stage: 2, programArrivalSeconds: came, queuedSinceSeconds: came, inputTokens: 5 },
              ...{ call: { workflow: "pair", agent: "only" }, accurate: set, state: { kind: "queued" } },
            };
            // All on the largest model always counts as accurate.
            waiting.push({ id, may: [...accurate, 2], work });
            policy.observe({ kind: "queued", work });
          }
          const inFlight = MODELS.map((_, model) => flying.filter((one) => one.model === model).length);
          const replicas = MODELS.map(
            (model, at): ReplicaView => ({
              ...{ id: model, model, inFlight: inFlight[at] ?? 0, maxInFlight: 9, accepting: true, kvUse: { state: "absent" } },
            }),
          );
          const expected = greedyRound(waiting, inFlight);
          const actions = policy.decide({ nowSeconds: turn, waiting: waiting.map(({ work }) => work), replicas });
          const sent = actions.map(
            (action) => [action.workId, action.kind === "dispatch" ? MODELS.indexOf(action.replicaId) : -1] as const,
          );
          expect(new Map(sent)).toEqual(expected);
          for (const [id, model] of sent) {
            policy.observe({ kind: "dispatched", workId: id, programId: id, replicaId: MODELS[model] ?? "", nowSeconds: turn });
            flying.push({ id, model });
          }
          waiting = waiting.filter(({ id }) => !expected.has(id));
        }
      }),
    );
  });
});
