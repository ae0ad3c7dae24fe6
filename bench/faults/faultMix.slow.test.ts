import { expect, it } from "vitest";
import { runFaultMix } from "./mixRun";
import { cycleSeconds } from "./parties";

const cycles = 2;
const seconds = cycles * cycleSeconds;
const total = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

/** The trace of each fault in the records. */
const faults = {
  "an engine killed while it answered": /other side closed|ECONNRESET|terminated/,
  "an engine that hangs": /the engine hangs/,
  "a stream that says nothing more": /nothing came for/,
  "an engine that answers 500": /the engine answered 500/,
  "an engine that answers 429": /the engine answered 429/,
  "an engine that answers nonsense": /the engine's answer is not a completion/,
  "a stream without an end": /without \[DONE\]/,
  "a judge that is down": /judge-unavailable: .*(ECONNREFUSED|ECONNRESET|other side closed)/,
  "a judge that is slow": /no score within/,
};

it("answers, sheds or clearly fails every request at 200 a second while all breaks at once, and counts and records the same as its clients", {
  timeout: 120_000,
}, async () => {
  const { ledger, counted, ...report } = await runFaultMix({ cycles });
  const { sent, seen, recorded } = ledger;
  expect(report.complaints).toEqual([]);
  expect(ledger.losses).toEqual([]);
  expect(total(seen)).toBe(sent);
  // 200 requests, 10 probes, 4 slow senders and one body of 10 MB each second.
  expect(sent).toBe(215 * seconds);
  expect(seen.answered).toBeGreaterThan(sent / 4);
  expect(seen.left).toBeGreaterThan(0);

  // What clients received is on record, once and with the same outcome; a client that left may have done so before the gateway noticed it.
  expect(ledger.contradictions).toEqual([]);
  expect(ledger.unrecorded).toBe(0);
  expect(report.missed).toBe(0);
  expect(total(recorded)).toBe(report.lastDecision);
  expect(recorded.left).toBeLessThanOrEqual(seen.left);
  expect(ledger.unheard).toBeLessThanOrEqual(seen.left);

  // The gateway's own counters agree.
  expect(total(counted)).toBeLessThanOrEqual(sent);
  expect(total(counted)).toBeGreaterThanOrEqual(sent - seen.left);
  for (const outcome of ["answered", "shed"] as const) expect(counted[outcome]).toBe(recorded[outcome]);
  expect(counted.failed).toBeGreaterThanOrEqual(seen.failed);

  expect(report.leftBehind).toEqual({ queued: 0, inFlight: 0 });
  expect(report.planSwitches).toBeGreaterThan(seconds / 2);
  const reasons = [...ledger.reasons.keys()];
  const unseen = Object.entries(faults).flatMap(([what, pattern]) => (reasons.some((reason) => pattern.test(reason)) ? [] : [what]));
  expect(unseen, reasons.join("; ")).toEqual([]);
});
