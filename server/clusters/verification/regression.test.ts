import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Regression, type RegressionLook, type RegressionState, type RollOutPosition, seeRegression } from "./regression";

const quiet: RegressionLook = {
  ...{ atMs: 0, timeScale: 1, gatewayAnswers: true, promisedSeconds: 2 },
  engines: [
    { id: "a", health: "serving" },
    { id: "b", health: "serving" },
  ],
  ended: { answered: 1000, failed: 1, shed: 0 },
  latency: { requests: 500, seconds: 1 },
};
const silent = { ...quiet, ended: { answered: 0, failed: 0, shed: 0 }, latency: null };
/** Ten looks with this many failed requests and nothing else. */
const failedFor10s = (failed: number) => Array.from({ length: 10 }, () => ({ ...silent, ended: { ...silent.ended, failed } }));
const begun: RollOutPosition = { routed: null, staying: null, thin: false };

/** Looks a second apart; the first halt that they cause. */
function see(looks: readonly RegressionLook[], position: (index: number) => RollOutPosition = () => begun): Regression["halt"] {
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
    ["requests are rejected", shedding, "objective", /% of the requests are rejected/],
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
    expect(see(lasting({ ...quiet, ended: { answered: 91, failed: 9, shed: 0 } }))).toBeNull();
    const few = Array.from({ length: 9 }, () => failedFor10s(1)).flat();
    expect(see([quiet, ...few, ...Array.from({ length: 600 }, () => silent)])).toBeNull();
    expect(see(lasting({ ...quiet, latency: { requests: 49, seconds: 30 } }))).toBeNull();
  });

  it.each([0.1, 0.3, 1, 1.9])("where all of %d requests/s fail, within two minutes", (perSecond) => {
    const ended = (index: number) => Math.floor(perSecond * index) - Math.floor(perSecond * Math.max(0, index - 10));
    const looks = Array.from({ length: 120 }, (_, index) => ({ ...silent, ended: { answered: 0, failed: ended(index + 1), shed: 0 } }));
    expect(see([{ ...silent, ended: { answered: 1, failed: 0, shed: 0 } }, ...looks])).toMatchObject({ because: "health" });
  });

  it("by no failure of long ago where few requests come", () => {
    const well = { ...silent, ended: { answered: 5, failed: 0, shed: 0 } };
    const looks = Array.from({ length: 9 }, () => ({ ...silent, ended: { answered: 0, failed: 20, shed: 0 } }));
    expect(see([well, ...looks, ...Array.from({ length: 200 }, () => well)])).toBeNull();
  });

  it("where requests are under way and none ends, but in no dip, of no slow plan and not where it was so before", () => {
    const hung = { ...silent, underWay: 3 };
    const looks = [quiet, ...Array.from({ length: 100 }, () => hung)];
    expect(see(looks)?.sentence).toMatch(/^3 requests are under way and none ends, for 60 s/);
    expect(see(looks, () => ({ ...begun, thin: true }))).toBeNull();
    expect(see(looks.map((look) => ({ ...look, promisedSeconds: 40 })))).toBeNull();
    expect(see([hung, ...looks])).toBeNull();
    expect(see([quiet, ...Array.from({ length: 100 }, () => silent)])).toBeNull();
  });

  it("by no request that times out while it waits for a model's only engine, but by those that fail once it serves", () => {
    const timingOut = { ...silent, ended: { answered: 0, failed: 50, shed: 0 }, unserved: true };
    const looks = [quiet, ...Array.from({ length: 300 }, () => timingOut)];
    const dip = (index: number) => ({ ...begun, thin: index <= 300 });
    expect(see([...looks, ...Array.from({ length: 10 }, () => timingOut), quiet], dip)).toBeNull();
    expect(see(looks)).toMatchObject({ because: "health" });
    const after = Array.from({ length: 100 }, () => ({ ...failing, unserved: false }));
    expect(see([...looks, ...after], dip)).toMatchObject({ because: "health" });
  });

  it("by no engine that the roll-out takes out, and by one that it has just routed to", () => {
    expect(see(lasting(oneDown), () => ({ ...begun, staying: ["a"] }))).toBeNull();
    expect(see(lasting(oneDown), () => ({ ...begun, routed: ["a"] }))).toBeNull();
    const halt = see(lasting(quiet), () => ({ ...begun, routed: ["a", "new"] }));
    expect(halt?.sentence).toMatch(/^new should serve/);
  });
});
