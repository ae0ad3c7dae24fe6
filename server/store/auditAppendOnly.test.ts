import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { openStore } from "./store";

const at = "2026-01-01T00:00:00.000Z";
const copied =
  "INSERT OR REPLACE INTO audit (id, at, actor, action, subject, detail) SELECT id, at, 'eve', action, subject, detail FROM audit";

it.each([
  ["a changed line", "UPDATE audit SET detail = 'nothing' WHERE detail = 'two'"],
  ["a removed line", "DELETE FROM audit WHERE detail = 'two'"],
  ["the removal of all lines", "DELETE FROM audit"],
  ["a replaced line", `${copied} WHERE detail = 'two'`],
  ["a line that is not of the chain", "INSERT INTO audit (at, actor, action, subject, detail) VALUES ('2026', 'eve', 'x', 'y', 'z')"],
])("the store refuses %s, through SQL", (_, sql) => {
  const folder = mkdtempSync(join(tmpdir(), "weir-audit-"));
  const store = openStore(folder);
  for (const detail of ["one", "two"]) store.audit.add({ at, actor: "ann", action: "approve", subject: "p", detail });
  const client = new Sqlite(join(folder, "weir.db"));
  expect(() => client.exec(sql)).toThrow("the audit is append-only");
  client.close();
  expect(store.audit.list(10)).toMatchObject([
    { actor: "ann", detail: "two" },
    { actor: "ann", detail: "one" },
  ]);
  store.close();
  rmSync(folder, { recursive: true });
});
