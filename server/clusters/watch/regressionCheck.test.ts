import { expect, it } from "vitest";
import type { LiveFrame } from "@/server/contracts/studio";
import { regressionCheck } from "./regressionCheck";

const frame = (health: "serving" | "draining", atMs = 0) =>
  ({
    ...{ atMs, timeScale: 1, planId: null, recent: {} },
    gateway: {
      ...{ state: "fresh", requestsPerSecond: 2, errorsPerSecond: 0.5, shedPerSecond: null, queuedForAny: 5 },
      stages: [
        { model: "small", queued: 1, inFlight: 4 },
        { model: "large", queued: null, inFlight: 2 },
      ],
    },
    engines: [
      { id: "a", model: "small", health: "serving" },
      { id: "b", model: "large", health },
    ],
  }) as unknown as LiveFrame;

it("counts what ended and what is under way, and tells a model without an engine that takes requests", () => {
  const look = regressionCheck(frame("serving"), null);
  expect(look).toMatchObject({ ended: { answered: 20, failed: 5, shed: 0 }, underWay: 12, unserved: false });
  expect(regressionCheck(frame("draining"), null).unserved).toBe(true);
});

it("goes on by a clock of its own where the wall's is set", () => {
  const [before, after] = [regressionCheck(frame("serving"), null), regressionCheck(frame("serving", 3_600_000), null)];
  expect(after.atMs - before.atMs).toBeLessThan(60_000);
});
