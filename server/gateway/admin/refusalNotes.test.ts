import type { IncomingMessage } from "node:http";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { AuditNote } from "../lib/auditLog";
import { RefusalNotes } from "./refusalNotes";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const request = (url: string) => ({ method: "PUT", url }) as IncomingMessage;

it("notes the first refusal of a kind at once, and a flood of them as one count a minute", () => {
  const notes: AuditNote[] = [];
  const refusals = new RefusalNotes((note) => notes.push(note));
  const [unsigned, foreign] = ["unsigned_order", "foreign_signature"].map((code) => ({ code, message: `It is ${code}.` })) as [
    { code: string; message: string },
    { code: string; message: string },
  ];
  for (let sent = 0; sent < 1000; sent += 1) refusals.add(request(`/ensembles/${"x".repeat(1000)}${sent}`), unsigned);
  refusals.add(request("/config?a=1"), foreign);
  expect(notes).toHaveLength(2);
  expect(notes[0]?.detail.length).toBeLessThan(200);
  expect(notes[1]).toEqual({ by: "unknown", action: "order refused", detail: "PUT /config: It is foreign_signature." });
  vi.advanceTimersByTime(60_000);
  expect(notes.slice(2)).toEqual([{ by: "unknown", action: "order refused", detail: "It is unsigned_order.", times: 999 }]);
  vi.advanceTimersByTime(600_000);
  expect(notes).toHaveLength(3);
  refusals.add(request("/config"), unsigned);
  expect(notes).toHaveLength(4);
});
