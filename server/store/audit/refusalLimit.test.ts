import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { AuditLine } from "@/server/contracts/studio";
import { createRefusalLimit } from "./refusalLimit";

const MINUTE_MS = 60_000;
let written: AuditLine[];
let limit: ReturnType<typeof createRefusalLimit>;
beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
  written = [];
  limit = createRefusalLimit((line) => void written.push(line));
});
afterEach(() => void vi.useRealTimers());

const refused = (parts: Partial<AuditLine> = {}): void =>
  limit.add({ at: new Date().toISOString(), actor: "eve", action: "approve", subject: "p", detail: "no", outcome: "refused", ...parts });

it("writes the first refusal at once, and its repetitions within a minute as one line", () => {
  for (let attempt = 0; attempt < 1000; attempt += 1) refused();
  refused({ subject: "q" });
  expect(written.map(({ subject }) => subject)).toEqual(["p", "q"]);
  vi.advanceTimersByTime(MINUTE_MS);
  expect(written.slice(2)).toMatchObject([{ subject: "p", times: 999, at: "2026-01-01T00:01:00.000Z", outcome: "refused" }]);
  refused();
  expect(written).toHaveLength(4);
});

it("writes at most 20 different refusals of one source in a minute, and counts the others", () => {
  for (let attempt = 0; attempt < 500; attempt += 1) refused({ subject: String(attempt), address: "203.0.113.9" });
  refused({ actor: "ann", address: "203.0.113.10" });
  vi.advanceTimersByTime(MINUTE_MS);
  expect(written).toHaveLength(22);
  expect(written.at(-2)).toMatchObject({ actor: "ann" });
  expect(written.at(-1)).toMatchObject({ actor: "eve", address: "203.0.113.9", action: "several attempts", times: 480 });
});

it("stays bounded for any number of sources and texts, and loses no attempt", () => {
  const attempts = 20_000;
  for (let attempt = 0; attempt < attempts; attempt += 1)
    refused({ actor: `eve ${attempt}`, address: `203.0.113.${attempt}`, detail: "x".repeat(10_000) });
  limit.flush();
  expect(written.length).toBeLessThanOrEqual(301);
  expect(written.reduce((sum, { times = 1 }) => sum + times, 0)).toBe(attempts);
  expect(Math.max(...written.map(({ detail }) => detail.length))).toBe(500);
});

it("writes what is counted when it is flushed, once", () => {
  refused();
  refused();
  limit.flush();
  limit.flush();
  vi.advanceTimersByTime(2 * MINUTE_MS);
  expect(written.map(({ times = 1 }) => times)).toEqual([1, 1]);
});
