import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openStore } from "@/server/store/store";
import { weirIn } from "../testing/testWeir";

let folder: string;
let state: string;
let weir: ReturnType<typeof weirIn>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-audit-"));
  state = join(folder, "state");
  mkdirSync(state);
  weir = weirIn(folder);
  const store = openStore(state);
  const line = { actor: "ann", action: "approve", subject: "plan-1", objectKind: "plan", objectId: "plan-1", detail: "" } as const;
  store.audit.add({ ...line, at: "2026-01-01T00:00:00.000Z" });
  store.audit.add({ ...line, at: "2026-01-02T00:00:00.000Z", actor: "bob", detail: '=HYPERLINK("http://evil.example","x")' });
  store.audit.refused({ ...line, detail: "The hash is not this plan's." });
  store.audit.add({ ...line, at: "2026-01-03T00:00:00.000Z", action: "apply", subject: "unmistakable" });
  store.close();
});
afterEach(() => rmSync(folder, { recursive: true }));

it("verifies a store and its export, with the hash that an auditor noted, and names the first bad line of each", async () => {
  const whole = await weir("audit", "verify");
  expect(whole).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /: 5 lines, each as it was written, of 2\S+Z to \S+Z\. The last is line 4 with the hash [0-9a-f]{64}\.\n$/,
    ),
  });
  const [head = ""] = /[0-9a-f]{64}/.exec(whole.stdout) ?? [];
  const exported = await weir("audit", "export", "--format", "jsonl");
  const file = join(folder, "export.jsonl");
  writeFileSync(file, exported.stdout);
  expect(await weir("audit", "verify", "--file", file, "--head", head)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("5 lines"),
  });
  expect(await weir("audit", "verify", "--file", file, "--state", state, "--head", head)).toMatchObject({ code: 0, stderr: "" });
  expect(await weir("audit", "verify", "--head", "0".repeat(64))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("No line has the hash"),
  });

  const changed = exported.stdout.replace('"actor":"bob"', '"actor":"rob"');
  writeFileSync(file, changed);
  expect(await weir("audit", "verify", "--file", file)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Line 2 does not match its hash"),
  });
  writeFileSync(file, exported.stdout.split("\n").toSpliced(2, 1).join("\n"));
  expect(await weir("audit", "verify", "--file", file)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("In 1 place lines are left out"),
  });
  writeFileSync(file, `${exported.stdout}{"id":`);
  expect(await weir("audit", "verify", "--file", file)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Line 6 of the file is no line"),
  });

  const bytes = readFileSync(join(state, "weir.db"));
  const place = bytes.indexOf("unmistakable");
  bytes[place] = (bytes[place] ?? 0) ^ 1;
  writeFileSync(join(state, "weir.db"), bytes);
  expect(await weir("audit", "verify")).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("Line 4 does not match its hash"),
  });
  expect(JSON.parse((await weir("audit", "verify", "--json")).stdout)).toMatchObject([{ ok: false, fault: { kind: "changed", line: 4 } }]);
});

it("exports what is asked for, as CSV in which no cell is a formula, and refuses what is no time or no state folder", async () => {
  const refused = await weir("audit", "export", "--format", "csv", "--outcome", "refused");
  expect(refused.stdout.split("\r\n")).toHaveLength(3);
  const ofBob = await weir(
    "audit",
    "export",
    "--format",
    "csv",
    "--actor",
    "bob",
    "--from",
    "2026-01-02",
    "--to",
    "2026-01-03",
    "--object",
    "PLAN",
  );
  expect(ofBob.stdout.split("\r\n")[1]).toContain(`"'=HYPERLINK(""http://evil.example"",""x"")"`);
  expect(await weir("audit", "export", "--from", "soon")).toMatchObject({ code: 2, stderr: expect.stringContaining("--from is no time") });
  expect(await weir("audit", "verify", "--state", folder)).toMatchObject({ code: 1, stderr: expect.stringContaining("has no store") });
  expect(await weir("audit", "verify")).toMatchObject({ code: 0 });
});
