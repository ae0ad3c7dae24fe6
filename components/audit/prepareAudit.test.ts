import { expect, it } from "vitest";
import type { AuditRecord } from "@/server/contracts/studio";
import { auditFilterSchema } from "@/server/contracts/studio/audit";
import { writeView } from "../url/useUrlView";
import { type AuditView, auditCodec } from "./auditCodec";
import { actorFacts, choices, countSentence, exportAddress, filterOf, isFiltered, outcomeWord } from "./prepareAudit";

const none: AuditView = { who: null, act: null, kind: null, object: null, outcome: null, from: null, to: null, after: null };
const read = (text: string): AuditView => auditCodec.parse(new URLSearchParams(text));

it("brings every filter and place back from the address, and leaves out what is not asked for", () => {
  const views: AuditView[] = [
    none,
    { ...none, who: "ann & bob", act: "order panic", kind: "lab run", object: "50 %", outcome: "refused" },
    { ...none, from: "2026-02-28", to: "2026-03-01", after: "2026-01-01T00:00:00.000Z~12" },
  ];
  for (const view of views) expect(auditCodec.parse(writeView(auditCodec, new URLSearchParams(), view))).toEqual(view);
  expect(writeView(auditCodec, new URLSearchParams("cluster=a&who=ann"), none).toString()).toBe("cluster=a");
});

it("takes what nobody can mean for no filter", () => {
  expect(read(`kind=planet&outcome=odd&from=2026-02-30&to=soon&who=${"x".repeat(201)}&object=`)).toEqual(none);
});

it("asks for whole days of this browser, the last one included, also where a day has 23 or 25 hours", () => {
  const filter = filterOf({ ...none, from: "2026-03-28", to: "2026-03-29" });
  expect(new Date(filter.from ?? "").toString()).toContain("Mar 28 2026 00:00:00");
  expect(new Date(filter.to ?? "").toString()).toContain("Mar 30 2026 00:00:00");
  expect(new Date(filterOf({ ...none, to: "2026-10-25" }).to ?? "").toString()).toContain("Oct 26 2026 00:00:00");
  expect(auditFilterSchema.parse(filter)).toEqual(filter);
});

it("exports what is shown, all pages of it", () => {
  const view = { ...none, who: "ann & bob", outcome: "refused" as const, after: "x~1" };
  const address = new URL(exportAddress(view, "csv"), "http://studio");
  expect([address.pathname, Object.fromEntries(address.searchParams)]).toEqual([
    "/api/audit/export",
    { format: "csv", actor: "ann & bob", outcome: "refused" },
  ]);
});

it("offers a chosen name also where the audit does not have it", () => {
  expect(choices("anyone", ["ann"], "eve").map(({ value }) => value)).toEqual(["", "eve", "ann"]);
  expect(choices("anyone", ["ann"], "ann").map(({ text }) => text)).toEqual(["anyone", "ann"]);
});

it("says who, with which outcome, and how many lines fit", () => {
  const line = { role: "viewer", address: "203.0.113.9", outcome: "refused", times: 1200 } as AuditRecord;
  expect([actorFacts(line), actorFacts({ ...line, role: null })]).toEqual(["viewer, 203.0.113.9", "203.0.113.9"]);
  expect([outcomeWord(line), outcomeWord({ ...line, outcome: "done", times: 1 })]).toEqual([
    { tone: "bad", text: "refused, 1,200 times" },
    { tone: "good", text: "done" },
  ]);
  const filtered = { ...none, who: "ann" };
  expect(isFiltered({ ...none, object: " ", after: "x~1" })).toBe(false);
  expect([countSentence(2, none), countSentence(0, filtered), countSentence(1, filtered)]).toEqual([
    "2 lines.",
    "No line fits the filter.",
    "1 line fits the filter.",
  ]);
});
