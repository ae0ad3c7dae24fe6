import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openStore, type Store } from "./store";
import { verifyAudit } from "./verifyAudit";

const at = "2026-01-01T00:00:00.000Z";

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-audit-"));
  store = openStore(folder);
  for (const detail of ["one", "two", "three", "four"]) store.audit.add({ at, actor: "ann", action: "approve", subject: "p", detail });
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

/** Runs SQL on the store's file as somebody who has it would. */
function tamper(sql: string): void {
  const client = new Sqlite(join(folder, "weir.db"));
  try {
    client.exec(sql);
  } finally {
    client.close();
  }
}

const dropTriggers = ["update", "delete", "insert"].map((name) => `DROP TRIGGER IF EXISTS audit_refuses_${name};`).join("");
const restoreTriggers = (): void => {
  for (const sql of readFileSync("server/store/migrations/0020_audit_chain.sql", "utf8").split("--> statement-breakpoint"))
    if (sql.includes("CREATE TRIGGER")) tamper(sql);
};

describe("verification", () => {
  it("finds the first line that was changed without the triggers", () => {
    const [, , two] = store.audit.list(10);
    tamper(`${dropTriggers} UPDATE audit SET actor = 'eve' WHERE detail = 'two'`);
    restoreTriggers();
    expect(verifyAudit(folder)).toMatchObject({ ok: false, fault: { kind: "changed", line: two?.id } });
  });

  it("finds one byte that was changed in the store's file", () => {
    store.audit.add({ at, actor: "ann", action: "approve", subject: "p", detail: "unmistakable" });
    const { id } = store.audit.list(1)[0] ?? {};
    store.close();
    const file = join(folder, "weir.db");
    const bytes = readFileSync(file);
    const place = bytes.indexOf("unmistakable");
    expect(place).toBeGreaterThan(0);
    bytes[place] = (bytes[place] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    expect(verifyAudit(folder)).toMatchObject({ ok: false, fault: { kind: "changed", line: id } });
    store = openStore(folder);
  });

  it("finds that a line was removed", () => {
    tamper(`${dropTriggers} DELETE FROM audit WHERE detail = 'two'`);
    restoreTriggers();
    expect(verifyAudit(folder)).toMatchObject({ ok: false, fault: { kind: "removed", line: 3 } });
  });

  it("finds that the last lines were removed, by audit.head, and keeps that evidence when more is written", () => {
    vi.spyOn(process.stderr, "write").mockReturnValue(true);
    store.close();
    tamper(`${dropTriggers} DELETE FROM audit WHERE detail IN ('three', 'four')`);
    restoreTriggers();
    expect(verifyAudit(folder)).toMatchObject({
      ok: false,
      fault: { kind: "head", says: expect.stringContaining("lines were removed from the end") },
    });
    store = openStore(folder);
    expect(store.audit.overview().headProblem).toContain("audit.head names line 4");
    for (const detail of ["five", "six", "seven"]) store.audit.add({ at, actor: "eve", action: "approve", subject: "p", detail });
    store.close();
    expect(verifyAudit(folder)).toMatchObject({ ok: false, fault: { kind: "head", says: expect.stringContaining("written anew") } });
    expect(process.stderr.write).toHaveBeenCalledWith(expect.stringContaining("audit.head"));
    vi.restoreAllMocks();
    store = openStore(folder);
  });

  it("says that triggers or audit.head are missing, and the next start notes a missing head in the audit", () => {
    tamper("DROP TRIGGER audit_refuses_delete");
    expect(verifyAudit(folder)).toMatchObject({ ok: false, fault: { kind: "triggers" } });
    tamper(dropTriggers);
    restoreTriggers();
    store.close();
    rmSync(join(folder, "audit.head"));
    expect(verifyAudit(folder)).toMatchObject({ ok: false, fault: { kind: "head" } });
    store = openStore(folder);
    expect(store.audit.list(1)).toMatchObject([{ actor: "studio", subject: "audit.head", objectKind: "audit" }]);
    expect(verifyAudit(folder).ok).toBe(true);
  });

  it("passes for every text that a line can have, by all who write", () => {
    const text = fc.string({ unit: "binary", maxLength: 20 });
    const odd = fc.oneof(text, fc.constantFrom("\ud800", "a\udc00b", "\u0000", "é", "é", "\u2028", '"\\', ""));
    const line = fc.record({ actor: odd, action: odd, subject: odd, detail: odd, objectId: fc.option(odd), address: fc.option(odd) });
    const other = openStore(folder);
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 5 }), fc.boolean(), (lines, byOther) => {
        for (const each of lines) (byOther ? other : store).audit.add({ at, ...each });
        expect(verifyAudit(folder)).toMatchObject({ ok: true });
      }),
      { numRuns: 40 },
    );
    other.close();
  });

  it("knows where the chain ends", async () => {
    await new Promise((resolve) => setImmediate(resolve));
    const head = join(folder, "audit.head");
    const newest = store.audit.list(1)[0];
    expect(statSync(head).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(head, "utf8"))).toEqual({ id: 4, hash: newest?.hash, count: 5 });
    expect(verifyAudit(folder)).toMatchObject({ ok: true, extent: { lines: 5, gaps: 0, first: { id: 0 }, last: { id: 4 } } });
    expect(existsSync(`${head}.${process.pid}`)).toBe(false);
  });

  it("does not count what a transaction undid", () => {
    expect(() =>
      store.atomically(() => {
        store.audit.note("ann", "x", "y");
        throw new Error("no");
      }),
    ).toThrow("no");
    store.audit.note("ann", "after", "y");
    store.close();
    expect(verifyAudit(folder)).toMatchObject({ ok: true, extent: { lines: 6, last: { id: 5 } } });
    store = openStore(folder);
  });
});
