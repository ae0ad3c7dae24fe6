import fc from "fast-check";
import { expect, it } from "vitest";
import { AGGREGATE_ALL } from "@/solver/ensemble/gate/ensembleDocument";
import { decideGate } from "@/solver/ensemble/gate/gate";
import type { LoopbackAnswer } from "../http/loopbackClient";
import { ensembleOf } from "../testing/testEnsembles";
import { type Asked, Voting } from "./ensembleVotes";

/** An expert's behaviour: votes with a letter, gives no readable vote, or fails. */
type Does = "A" | "B" | "C" | "nothing" | "fails";

function asked(does: Does): Asked {
  if (does === "fails") return { ok: false, error: { message: "out of order", code: "engine_failed", status: 502 } };
  const output = does === "nothing" ? "Hard to say." : `Answer: ${does}`;
  const answer: LoopbackAnswer = { completion: {}, output, model: "m", decisionId: "d", usage: { inputTokens: 1, outputTokens: 5 } };
  return { ok: true, answer };
}

const scenario = fc
  .array(fc.record({ does: fc.constantFrom<Does>("A", "B", "C", "nothing", "fails"), turn: fc.double({ noNaN: true }) }), {
    minLength: 2,
    maxLength: 6,
  })
  .chain((experts) =>
    fc.record({
      experts: fc.constant(experts),
      quorum: fc.integer({ min: 1, max: experts.length }),
      tau: fc.constantFrom(0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1, AGGREGATE_ALL),
      /** Experts that answer before the deadline. */
      inTime: fc.integer({ min: 0, max: experts.length }),
    }),
  );

it("an early decision is the one that waiting for every expert would have come to, and without the quorum none skips", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ experts, quorum, tau }) => {
      const names = experts.map((_, at) => `m${at}`);
      const ensemble = ensembleOf({
        ...{ experts: names, expertsPerQuestion: names.length, quorum, tau },
        ...{ extraction: { kind: "choice" }, aggregator: { model: "sum" } },
      });
      const waiting = new Map<string, (asked: Asked) => void>();
      const signals = new Map<string, AbortSignal>();
      const voting = new Voting({
        ...{ ensemble, experts: names, tau: () => tau, deadlineMs: 60_000, signal: new AbortController().signal },
        ask(expert, signal) {
          signals.set(expert, signal);
          return new Promise((resolve) => waiting.set(expert, resolve));
        },
      });
      let done = false;
      voting.decided.then(() => {
        done = true;
      });
      const order = experts.map(({ does, turn }, at) => ({ does, turn, name: names[at] ?? "" })).sort((a, b) => a.turn - b.turn);
      let came = 0;
      for (const { name, does } of order) {
        if (done) break;
        waiting.get(name)?.(asked(does));
        came += 1;
        await new Promise((resolve) => setImmediate(resolve));
      }
      const voted = await voting.decided;
      const all = experts.map(({ does }, at) => ({
        expert: names[at] ?? "",
        vote: does === "nothing" || does === "fails" ? null : does,
        outputTokens: does === "fails" ? 0 : 5,
      }));
      const whole = decideGate(all, { asked: names, confidence: ensemble.confidence, tau });
      const answered = voted.experts.filter(({ state }) => state === "voted" || state === "no-vote").length;
      expect(voted.experts.filter(({ state }) => state !== "not-needed")).toHaveLength(came);
      expect(voted.experts.filter(({ state }) => state === "late")).toEqual([]);
      expect(voted.belowQuorum).toBe(answered < quorum);
      expect(voted.atDeadline).toBe(false);
      if (voted.belowQuorum) expect(voted.decision.kind).toBe("aggregate");
      else expect([voted.decision.kind, voted.decision.leading?.vote]).toEqual([whole.kind, whole.leading?.vote]);
      if (came < names.length) expect([voted.decision.kind, voted.belowQuorum]).toEqual(["skip", false]);
      for (const { model, state } of voted.experts) expect([state, signals.get(model)?.aborted]).toEqual([state, true]);
    }),
    { numRuns: 300 },
  );
});

it("the deadline decides about what is there, whichever that is", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ experts, quorum, inTime }) => {
      fc.pre(inTime < experts.length);
      const names = experts.map((_, at) => `m${at}`);
      const ensemble = ensembleOf({ experts: names, expertsPerQuestion: names.length, quorum, tau: 1 });
      const voting = new Voting({
        ...{ ensemble, experts: names, tau: () => 1, deadlineMs: 1, signal: new AbortController().signal },
        ask: (expert) => {
          const at = names.indexOf(expert);
          return at < inTime ? Promise.resolve(asked(experts[at]?.does ?? "fails")) : new Promise(() => undefined);
        },
      });
      const { atDeadline, decision, experts: states } = await voting.decided;
      expect([atDeadline, decision.kind]).toEqual([true, "aggregate"]);
      expect(states.map(({ state }) => state === "late")).toEqual(names.map((_, at) => at >= inTime));
    }),
    { numRuns: 100 },
  );
});
