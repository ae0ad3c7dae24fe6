import { expect, it } from "vitest";
import type { Capture } from "@/server/contracts/studio";
import { captured, dropped, firstDraft, formatBytes, prepareCapture, redacted, ruleProblem, staying, tryRedaction } from "./prepareCapture";

const rule = { id: 1, name: "customer", pattern: "cust-\\d+", replacement: "[customer]" };
const none = { busy: 0, "too-long": 0, "not-text": 0, "too-slow": 0, "no-room": 0, failed: 0 };
const capture: Capture = {
  running: null,
  keyNames: ["ann", "bob"],
  counts: { kept: 9, dropped: { ...none, busy: 2, "not-text": 1200 }, redacted: { email: 3, customer: 12 } },
  files: { prompts: 9, bytes: 3_000_000, oldestDay: "2026-11-20", retentionDays: 14 },
};

it("names nobody until keys are chosen, and only keys that there are", () => {
  expect(prepareCapture(firstDraft, ["ann"])).toEqual({ missing: "Choose the keys whose prompts may be kept." });
  expect(prepareCapture(firstDraft, null)).toEqual({ missing: "Confirm that prompts of everybody may be kept." });
  expect(prepareCapture({ ...firstDraft, keys: ["*"] }, ["ann"])).toEqual({ missing: "Choose the keys whose prompts may be kept." });
  const made = prepareCapture({ ...firstDraft, keys: ["gone", "ann"], own: [rule] }, ["ann", "bob"]);
  expect(made).toMatchObject({ order: { share: 0.05, keys: ["ann"], retentionDays: 14, mostBytes: 500 * 1024 * 1024 } });
  expect(made).toMatchObject({ order: { redactions: { own: [{ name: "customer", pattern: "cust-\\d+", replacement: "[customer]" }] } } });
  expect(prepareCapture({ ...firstDraft, keys: ["*"] }, null)).toMatchObject({ order: { keys: ["*"] } });
});

it("says which rule cannot be used and why", () => {
  const bad = { ...rule, pattern: "(" };
  expect(prepareCapture({ ...firstDraft, keys: ["ann"], own: [rule, bad] }, ["ann"])).toEqual({
    missing: "The rule customer cannot be used: it is no regular expression.",
  });
  expect(ruleProblem({ ...rule, name: "" })).toMatch(/^a name has small letters/);
  expect(ruleProblem(rule)).toBeNull();
});

it("shows a text as it would be kept", () => {
  expect(tryRedaction({ ...firstDraft, own: [rule] }, "Cust-7 is ann@corp.example")).toEqual({
    text: "[customer] is [email]",
    found: "Removed: 1 email, 1 customer.",
  });
  expect(tryRedaction(firstDraft, "hello")).toEqual({ text: "hello", found: "Nothing was found." });
  expect(tryRedaction({ ...firstDraft, own: [{ ...rule, pattern: "[" }] }, "hello")).toBeNull();
});

it("says what was kept, dropped and taken out, and until when it stays", () => {
  expect(dropped(capture)).toBe("1,200 with images or other than text, 2 too many at once");
  expect(redacted(capture)).toBe("12 customer, 3 email");
  expect(staying(capture)).toBe("oldest of 2026-11-20; each goes within 14 days");
  expect([formatBytes(10), formatBytes(3_000_000), formatBytes(3 * 1024 ** 3)]).toEqual(["1\u00a0kB", "2.9\u00a0MB", "3.0\u00a0GB"]);
  expect([captured({ keys: ["*"] }), captured({ keys: ["a"] }), captured({ keys: ["a", "b"] })]).toEqual([
    "everybody",
    "the key a",
    "the keys a, b",
  ]);
});
