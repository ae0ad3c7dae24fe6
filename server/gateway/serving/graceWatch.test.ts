import { expect, it, onTestFinished } from "vitest";
import type { AuditNote } from "../lib/auditLog";
import { GraceWatch } from "./graceWatch";

it("notes when thresholds begin to fall and when all are back, with the lowest in between", () => {
  const noted: AuditNote[] = [];
  const lowered = (inForce: number) => [{ stage: 0, model: "small", planned: 70, inForce, sinceSeconds: 1, sinceMs: Date.now() - 42_000 }];
  let now: ReturnType<typeof lowered> = [];
  const watch = new GraceWatch({
    serving: { cascade: { driver: { grace: () => now } } },
    note: (line) => void noted.push(line),
  });
  onTestFinished(() => watch.close());
  watch.look();
  expect(noted).toEqual([]);
  for (const inForce of [69, 61, 65]) {
    now = lowered(inForce);
    watch.look();
  }
  expect(noted.map(({ action }) => action)).toEqual(["grace began"]);
  expect(noted[0]?.detail).toContain("of small, 70 in the plan");
  now = [];
  watch.look();
  watch.look();
  expect(noted.map(({ action }) => action)).toEqual(["grace began", "grace ended"]);
  expect(noted[1]?.detail).toMatch(/after 4[2-9] s\. Lowest since: small from 70 to 61\./);
});
