import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { signedInHeaders } from "@/server/api/testing/signedInHeaders";
import type { AuditFilter, AuditPage } from "@/server/contracts/studio";
import { studioSettings } from "@/server/lib/studioSettings";
import { createRuntime, type Runtime } from "@/server/runtime";
import { readExportedLine } from "@/server/store/audit/exportLines";
import { createChainCheck } from "@/server/store/audit/verifyChain";
import { openStore } from "@/server/store/store";
import { verifyAudit } from "@/server/store/verifyAudit";
import { GET as query } from "../trpc/[trpc]/route";
import { GET as download } from "./export/route";

const lines = 1201;
const timeOf = (line: number): string => new Date(Date.UTC(2026, 0, 1) + Math.floor(line / 3) * 60_000).toISOString();

let folder = "";
let studio: Runtime;
let signedIn: Record<string, string> = {};
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-audit-page-"));
  const store = openStore(folder);
  store.atomically(() => {
    for (let line = 0; line < lines; line += 1)
      store.audit.add({
        ...{ at: timeOf(line), actor: line % 2 === 0 ? "ann" : "bob", action: "approve", subject: `plan-${line}`, detail: "" },
        ...{ objectKind: "plan", objectId: `Plan_${line}%`, clusterId: "lab" },
      });
  });
  store.audit.refused({ actor: "eve", action: "approve", subject: "plan-1", detail: "=1+1", address: "203.0.113.9", role: "viewer" });
  store.close();
  const nowhere = "http://127.0.0.1:9";
  studio = createRuntime(studioSettings({ WEIR_STATE_DIR: folder, WEIR_EMULATOR_URL: nowhere, WEIR_GATEWAY_ADMIN_URL: nowhere }));
  Object.assign(globalThis, { [Symbol.for("weir.runtime")]: studio });
  signedIn = signedInHeaders(studio);
});
afterAll(async () => {
  await studio.close();
  rmSync(folder, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = signedIn) => new Request(`http://127.0.0.1:4600${path}`, { headers });
async function page(filter: AuditFilter, cursor: string | null = null, limit = 200): Promise<AuditPage> {
  const input = encodeURIComponent(JSON.stringify({ filter, cursor, limit }));
  const body = (await (await query(get(`/api/trpc/audit.page?input=${input}`))).json()) as { result?: { data: AuditPage }; error?: object };
  if (body.result === undefined) throw new Error(JSON.stringify(body.error));
  return body.result.data;
}

it("gives every line once, newest first, page by page, also where many have the same time and others are added meanwhile", async () => {
  const seen: number[] = [];
  let cursor: string | null = null;
  do {
    const { lines: found, next, total } = await page({ actor: "ann", from: timeOf(0), to: timeOf(lines + 3) }, cursor);
    expect(total).toBe(601);
    seen.push(...found.map(({ id }) => id));
    expect(found.map(({ at }) => at)).toEqual(
      found
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
    );
    cursor = next;
  } while (cursor !== null);
  expect([seen.length, new Set(seen).size]).toEqual([601, 601]);
  await expect(page({}, "soon")).rejects.toThrow("The cursor is not valid");
});

it("filters by person, act, kind and part of a name or id, outcome and time", async () => {
  const totals = async (filter: AuditFilter) => (await page(filter, null, 1)).total;
  expect(await totals({ actor: "bob" })).toBe(600);
  expect(await totals({ action: "sign-in" })).toBe(1);
  expect(await totals({ outcome: "refused" })).toBe(1);
  expect(await totals({ object: "PLAN_1200%" })).toBe(1);
  expect(await totals({ objectKind: "plan", object: "plan-1200" })).toBe(1);
  expect(await totals({ objectKind: "cluster" })).toBe(0);
  expect(await totals({ object: "lab", from: timeOf(3), to: timeOf(9) })).toBe(6);
  expect(await totals({ actor: "' OR 1=1 --" })).toBe(0);
  expect((await page({ outcome: "refused" })).lines).toMatchObject([{ actor: "eve", role: "viewer", address: "203.0.113.9", times: 1 }]);
});

it("exports what is asked for: as lines that can be verified against the store, and as CSV without formulas", async () => {
  const response = download(get("/api/audit/export?format=jsonl"));
  expect(response.headers.get("content-disposition")).toMatch(/^attachment; filename="audit-[\d-]{10}\.jsonl"$/);
  const exported = (await response.text()).trimEnd().split("\n").map(readExportedLine);
  const check = createChainCheck("all");
  for (const record of exported) expect(record === null ? "no line" : check.add(record)).toBeNull();
  const report = check.end();
  expect(report).toMatchObject({ ok: true, extent: { gaps: 0, first: { id: 0 } } });
  const held = new Map(exported.flatMap((record) => (record === null ? [] : [[record.id, record.hash] as const])));
  expect(verifyAudit(folder, { lines: held })).toMatchObject({ ok: true });
  const csv = await download(get("/api/audit/export?format=csv&actor=eve")).text();
  expect(csv.split("\r\n")[1]).toContain(`"approve","plan-1","'=1+1","refused"`);
});

it("exports nothing without a session, and says what is wrong with a request", async () => {
  expect(download(get("/api/audit/export", {})).status).toBe(401);
  const refusal = async (search: string) => {
    const response = download(get(`/api/audit/export?${search}`));
    return `${response.status} ${((await response.json()) as { message: string }).message}`;
  };
  expect(await refusal("format=exe")).toBe("400 format is exe: use one of jsonl, csv.");
  expect(await refusal("from=soon")).toMatch(/^400 from: /);
});
