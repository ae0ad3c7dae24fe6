import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Halt } from "@/server/contracts/studio";
import { type RegressionLook, type RegressionState, type RollOutPosition, seeRegression } from "./regression";

const quiet: RegressionLook = {
  ...{ atMs: 0, timeScale: 1, gatewayAnswers: true, promisedSeconds: 2 },
  engines: [
    { id: "a", health: "serving" },
    { id: "b", health: "serving" },
  ],
  ended: { answered: 1000, failed: 1, shed: 0 },
  latency: { requests: 500, seconds: 1 },
};
const begun: RollOutPosition = { routed: null, staying: null, thin: false };

/** Looks a second apart; the halt of the first that leads to one. */
function see(looks: readonly RegressionLook[], position: (index: number) => RollOutPosition = () => begun): Halt | null {
  let known: RegressionState | null = null;
  for (const [index, look] of looks.entries()) {
    const seen = seeRegression(known, { ...look, atMs: 1000 * index }, position(index));
    if (seen.halt !== null) return seen.halt;
    known = seen.state;
  }
  return null;
}
const lasting = (look: RegressionLook, seconds = 200) => [quiet, ...Array.from({ length: seconds }, () => look)];

const failing = { ...quiet, ended: { answered: 500, failed: 100, shed: 0 } };
const slow = { ...quiet, latency: { requests: 500, seconds: 3 } };
const shedding = { ...quiet, ended: { answered: 500, failed: 1, shed: 100 } };
const away = { ...quiet, gatewayAnswers: false };
const oneDown = { ...quiet, engines: [quiet.engines[0] ?? { id: "a", health: "serving" as const }] };

describe("a roll-out is halted", () => {
  it.each([
    ["the gateway is away", away, "health", /^The gateway does not answer, for 1\d s\.$/],
    ["an engine is missing", oneDown, "health", /^b should serve and fails or is missing, for 2\d s\.$/],
    ["requests fail", failing, "health", /^17 % of the requests fail, and 0\.1 % before the roll-out, for 1\d s\.$/],
    [
      "answers take longer than was promised",
      slow,
      "objective",
      /^The latency is 3 s: at most 2 s were promised, 1 s before the roll-out, for/,
    ],
    ["requests are turned away", shedding, "objective", /% of the requests are turned away/],
  ] as const)("where %s for long enough", (_, look, because, sentence) => {
    expect(see(lasting(look))).toMatchObject({ because, sentence: expect.stringMatching(sentence) });
  });

  const anyLook = fc.constantFrom(failing, slow, shedding, away, oneDown);
  it("by no spell that is over soon", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyLook, fc.integer({ min: 1, max: 9 })), { maxLength: 20 }), (spells) => {
        const looks = spells.flatMap(([look, seconds]) => [...Array.from({ length: seconds }, () => look), quiet]);
        expect(see([quiet, ...looks])).toBeNull();
      }),
    );
  });

  it("by nothing that was so before it began", () => {
    for (const look of [failing, slow, shedding, oneDown]) expect(see(Array.from({ length: 200 }, () => look))).toBeNull();
  });

  it("by no latency or shed request of a dip that it makes itself, nor while queues empty after it", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(quiet, slow, shedding), { minLength: 1, maxLength: 300 }),
        fc.integer({ min: 0, max: 60 }),
        (dip, after) => {
          const looks = [quiet, ...dip, ...Array.from({ length: after }, () => slow), quiet];
          expect(see(looks, (index) => ({ ...begun, thin: index > 0 && index <= dip.length }))).toBeNull();
        },
      ),
    );
  });

  it("by requests that fail in a dip all the same, and by a latency that stays after it", () => {
    expect(see(lasting(failing), () => ({ ...begun, thin: true }))).toMatchObject({ because: "health" });
    expect(see(lasting(slow), (index) => ({ ...begun, thin: index < 50 }))).toMatchObject({ because: "objective" });
  });

  it("by no few requests", () => {
    expect(see(lasting({ ...quiet, ended: { answered: 10, failed: 19, shed: 0 } }))).toBeNull();
    expect(see(lasting({ ...quiet, latency: { requests: 49, seconds: 30 } }))).toBeNull();
  });

  it("by no engine that the roll-out takes out, and by one that it has just routed to", () => {
    expect(see(lasting(oneDown), () => ({ ...begun, staying: ["a"] }))).toBeNull();
    expect(see(lasting(oneDown), () => ({ ...begun, routed: ["a"] }))).toBeNull();
    const halt = see(lasting(quiet), () => ({ ...begun, routed: ["a", "new"] }));
    expect(halt?.sentence).toMatch(/^new should serve/);
  });
});
