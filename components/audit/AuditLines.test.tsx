import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import type { AuditRecord } from "@/server/contracts/studio";
import { AuditFilterBar } from "./AuditFilterBar";
import { AuditLines } from "./AuditLines";
import type { AuditView } from "./auditCodec";

const line: AuditRecord = {
  ...{ id: 7, at: "2026-01-31T12:00:05.000Z", actor: "eve", action: "approve", subject: "plan-1", detail: "<b>The hash</b> is another." },
  ...{ outcome: "refused", times: 12, objectKind: "lab run", objectId: "full-id", clusterId: null, role: "viewer", address: "203.0.113.9" },
  hash: "f".repeat(64),
};
const none: AuditView = { who: null, act: null, kind: null, object: null, outcome: null, from: null, to: null, after: null };
const change = () => undefined;

it("shows who, from where, what, on what and with which outcome in words, and text as text", () => {
  const html = renderToStaticMarkup(<AuditLines lines={[line]} isOld />);
  for (const part of ["eve", "viewer, 203.0.113.9", "approve", "refused, 12 times", "lab run", "plan-1", "full-id", "f".repeat(64)])
    expect(html).toContain(part);
  expect(html).toContain("&lt;b&gt;The hash");
  expect(html).toMatch(/<time dateTime="2026-01-31T12:00:05.000Z"/);
  expect(html).toContain('aria-busy="true"');
  expect(html.match(/<th scope="col"/g)).toHaveLength(7);
});

it("labels every filter, shows the chosen values, and clears only where there is something to clear", () => {
  const names = { actors: ["ann"], actions: ["approve"] };
  const chosen = { ...none, who: "eve", outcome: "refused", from: "2026-01-31" } as const;
  const html = renderToStaticMarkup(<AuditFilterBar view={chosen} overview={names} onChange={change} />);
  for (const [, id] of html.matchAll(/<label for="([^"]+)"/g)) expect(html).toContain(`id="${id}"`);
  expect(html.match(/<label for=/g)).toHaveLength(7);
  expect(html).toContain('<option value="eve" selected="">eve</option>');
  expect(html).toContain('value="2026-01-31"');
  expect(html).not.toContain('disabled=""');
  expect(renderToStaticMarkup(<AuditFilterBar view={none} overview={undefined} onChange={change} />)).toContain('disabled=""');
});
