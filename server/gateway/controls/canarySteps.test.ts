import fc from "fast-check";
import { expect, it } from "vitest";
import { beginningOf, type CanaryPlan, type CanaryProgress, type FinishedRequest, outlook, withFinished } from "./canarySteps";

const anyPlan: fc.Arbitrary<CanaryPlan> = fc.record({
  shares: fc
    .uniqueArray(fc.integer({ min: 1, max: 99 }), { maxLength: 4 })
    .map((shares) => [...shares.sort((a, b) => a - b), 100].map((one) => one / 100)),
  stepSeconds: fc.integer({ min: 1, max: 20 }),
  minRequests: fc.integer({ min: 1, max: 30 }),
  stop: fc.record({
    errorShare: fc.double({ min: 0, max: 0.5, noNaN: true }),
    slow: fc.option(fc.record({ endToEndSeconds: fc.constant(5), share: fc.double({ min: 0, max: 0.5, noNaN: true }) })),
  }),
});

const anyRequest: fc.Arbitrary<FinishedRequest & { readonly afterMs: number }> = fc.record({
  arm: fc.constantFrom("candidateArm", "candidateArm", "currentArm"),
  failed: fc.integer({ min: 0, max: 9 }).map((die) => die === 0),
  slow: fc.integer({ min: 0, max: 9 }).map((die) => die === 0),
  afterMs: fc.integer({ min: 0, max: 2000 }),
});

interface Seen {
  readonly before: CanaryProgress;
  readonly nowMs: number;
  readonly kind: string;
}

/** Every look at a canary as requests finish, until it ends. */
function looksOf(plan: CanaryPlan, requests: readonly (FinishedRequest & { readonly afterMs: number })[]): readonly Seen[] {
  const seen: Seen[] = [];
  let nowMs = 1000;
  let progress = beginningOf(0, nowMs);
  for (const { afterMs, ...request } of requests) {
    nowMs += afterMs;
    progress = withFinished(progress, request);
    const next = outlook(plan, progress, nowMs);
    seen.push({ before: progress, nowMs, kind: next.kind });
    if (next.kind === "advance") progress = next.progress;
    if (next.kind === "stop" || next.kind === "promote") break;
  }
  return seen;
}

const anyRun = fc.tuple(anyPlan, fc.array(anyRequest, { maxLength: 200 }));

it("goes on only when a step has lasted and enough of the candidate's requests are finished, and by one step", () => {
  fc.assert(
    fc.property(anyRun, ([plan, requests]) => {
      const looks = looksOf(plan, requests);
      for (const [at, { before, nowMs, kind }] of looks.entries()) {
        const ripe = before.candidateArm.finished >= plan.minRequests && nowMs - before.stepSinceMs >= plan.stepSeconds * 1000;
        if (kind === "advance" || kind === "promote") expect(ripe).toBe(true);
        if (kind === "stay") expect(ripe).toBe(false);
        if (kind === "promote") expect(before.step).toBe(plan.shares.length - 1);
        const after = looks[at + 1]?.before;
        if (after !== undefined) expect(after.step).toBe(before.step + (kind === "advance" ? 1 : 0));
      }
    }),
  );
});

it("stops where more than the share failed or were slow, whatever the rest of the requests that must finish will be, and nowhere else", () => {
  fc.assert(
    fc.property(anyRun, ([plan, requests]) => {
      for (const { before, kind } of looksOf(plan, requests)) {
        const { finished, failed, slow } = before.candidateArm;
        const missing = Math.max(0, plan.minRequests - finished);
        const over = (count: number, share: number) => count > share * (finished + missing);
        const lost = over(failed, plan.stop.errorShare) || (plan.stop.slow !== null && over(slow, plan.stop.slow.share));
        expect(kind === "stop").toBe(lost);
      }
    }),
  );
});

it("counts what becomes of the policy in force, and decides nothing by it", () => {
  fc.assert(
    fc.property(anyRun, ([plan, requests]) => {
      const current = requests.filter(({ arm }) => arm === "currentArm");
      const looks = looksOf(plan, current);
      expect(looks.every(({ kind }) => kind === "stay")).toBe(true);
      expect(looks.at(-1)?.before.currentArm.finished ?? 0).toBe(current.length);
    }),
  );
});

it("puts a candidate into force that neither fails nor is slow, after as many steps as there are shares", () => {
  fc.assert(
    fc.property(anyPlan, (plan) => {
      const good = { arm: "candidateArm", failed: false, slow: false, afterMs: 1000 } as const;
      const looks = looksOf(plan, new Array(1000).fill(good));
      expect(looks.at(-1)?.kind).toBe("promote");
      expect(looks.filter(({ kind }) => kind === "advance")).toHaveLength(plan.shares.length - 1);
    }),
  );
});

it("says of what there was too much", () => {
  const plan: CanaryPlan = {
    shares: [0.05, 1],
    stepSeconds: 60,
    minRequests: 40,
    stop: { errorShare: 0.05, slow: { endToEndSeconds: 8, share: 0.5 } },
  };
  const arm = { finished: 0, failed: 0, slow: 0 };
  const at = (candidateArm: typeof arm) => outlook(plan, { ...beginningOf(0, 0), candidateArm }, 1);
  expect(at({ finished: 4, failed: 2, slow: 4 })).toEqual({ kind: "stay" });
  expect(at({ finished: 4, failed: 3, slow: 0 })).toEqual({ kind: "stop", reason: "3 of 4 requests failed, more than 5 % of 40." });
  expect(at({ finished: 60, failed: 3, slow: 31 })).toEqual({
    kind: "stop",
    reason: "31 of 60 requests took longer than 8 s, more than 50 % of 60.",
  });
});
