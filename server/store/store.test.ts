import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { condition, needs } from "@/scripts/needs.mjs";
import type { Prompt, PromptSet, WorkloadSummary } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import type { StoredLabRun } from "./labRepository";
import { openStore, type Store } from "./store";
import { verifyAudit } from "./verifyAudit";

const now = "2026-01-01T00:00:00.000Z";
const later = "2026-01-01T01:00:00.000Z";
const spec = { id: "c", name: "c", kind: "described", gpu: "l4", nodes: [{ name: "n1", gpus: 2 }], usdPerGpuHour: 1 } as const;

describe("store", () => {
  let folder: string;
  let store: Store;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-store-"));
    store = openStore(folder);
  });
  afterEach(() => {
    store.close();
    rmSync(folder, { recursive: true });
  });

  it("gives back after a restart what was written before", () => {
    store.clusters.insert({ ...spec, nodes: [...spec.nodes] }, now);
    store.audit.add({ at: now, actor: "a", action: "describe", subject: "c", detail: "" });
    store.close();
    store = openStore(folder);
    expect(store.clusters.get("c")?.spec).toEqual(spec);
    expect(store.audit.list(10)).toMatchObject([{ id: 1, at: now, actor: "a", action: "describe", subject: "c", outcome: "done" }]);
  });

  it("gives back plans and lab descriptions that were kept with a field's old name with the new one, under their own hashes", () => {
    const named = (name: string) => ({ kind: "fixed", model: "m", order: { kind: "sjf", [name]: 30 }, place: { kind: "least-load" } });
    const plan = (name: string) =>
      ({ ...examplePlanDraft(), id: "p", policyHash: "h", topologyHash: "t", policy: named(name) }) as unknown as Plan;
    store.plans.keep({ ...plan("agingReleases"), metadata: { name: "old", createdAt: now } });
    const read = { ...plan("agingThreshold"), metadata: { name: "old", createdAt: now } };
    expect([store.plans.get("p"), store.plans.list(null)]).toEqual([read, [read]]);
    const run = (name: string) => ({
      id: "r",
      createdAt: now,
      actor: "a",
      state: "done",
      problem: null,
      notes: [],
      spec: { systems: [{ policy: named(name) }] },
    });
    store.labRuns.insert(run("agingReleases") as unknown as StoredLabRun);
    expect(store.labRuns.get("r")).toEqual({ ...run("agingThreshold"), cellsDone: 0 });
    expect(store.labRuns.list()).toEqual([{ ...run("agingThreshold"), cellsDone: 0 }]);
  });

  it("is for its own user alone, with what SQLite keeps beside it", () => {
    store.audit.add({ at: now, actor: "a", action: "describe", subject: "c", detail: "" });
    for (const name of ["weir.db", "weir.db-wal"]) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it("keeps a workload's bytes as they were", () => {
    const summary = { id: "w", createdAt: now, name: "w", parentId: null, profileId: null } as WorkloadSummary;
    store.workloads.insert(summary, Buffer.from([0, 255, 7]));
    expect(store.workloads.data("w")).toEqual(Buffer.from([0, 255, 7]));
    expect(store.workloads.list()).toEqual([{ ...summary, version: 1 }]);
    store.workloads.insert({ ...summary, id: "again", createdAt: later, parentId: "w" }, Buffer.from([1]));
    store.workloads.insert({ ...summary, id: "other", name: "other" }, Buffer.from([1]));
    expect(store.workloads.summary("again")).toMatchObject({ version: 2, parentId: "w" });
    expect(store.workloads.summary("other")).toMatchObject({ version: 1 });
    expect(store.workloads.remove("w")).toBe(true);
    expect(store.workloads.remove("w")).toBe(false);
  });

  const set = { id: "s", name: "mine", createdAt: now, expiresAt: later, prompts: 2 } as Omit<PromptSet, "deleted">;
  const prompt = (content: string): Prompt => ({
    ...{ id: content, category: "", atMs: null, reference: null, test: null },
    body: { messages: [{ role: "user", content }] },
  });

  it("keeps a sample's prompts by position, and its facts when they are deleted", () => {
    store.prompts.insert(set, [prompt("one"), prompt("two")]);
    expect(store.prompts.list()).toEqual([{ ...set, deleted: false }]);
    expect(store.prompts.prompt("s", 1)).toEqual(prompt("two"));
    expect([store.prompts.prompt("s", 2), store.prompts.count("s")]).toEqual([null, 2]);
    expect(store.prompts.expired(now)).toEqual([]);
    expect(store.prompts.expired(later)).toEqual([{ ...set, deleted: false }]);
    store.prompts.deleteTexts("s");
    expect(store.prompts.get("s")).toEqual({ ...set, deleted: true });
    expect([store.prompts.prompt("s", 0), store.prompts.count("s")]).toEqual([null, 0]);
    expect(store.prompts.expired(later)).toEqual([]);
  });

  it("tells of a sample once all of it is there, and takes back what was begun", () => {
    store.prompts.begin("s", now);
    store.prompts.add("s", 0, [prompt("one")]);
    expect([store.prompts.list(), store.prompts.get("s")]).toEqual([[], null]);
    store.prompts.begin("t", now);
    store.prompts.add("t", 0, [prompt("one")]);
    store.prompts.finish({ ...set, id: "t" });
    store.prompts.abandon();
    expect(store.prompts.list()).toEqual([{ ...set, id: "t", deleted: false }]);
    expect([store.prompts.count("s"), store.prompts.count("t")]).toEqual([0, 1]);
  });

  it("leaves nothing of what was erased in its files", () => {
    const marker = `marker-${"x".repeat(20_000)}-marker`;
    store.prompts.insert(set, [prompt(marker), prompt("b")]);
    const holds = (): boolean => readdirSync(folder).some((name) => readFileSync(join(folder, name)).includes("marker-xxxx"));
    expect(holds()).toBe(true);
    store.erasing(() => store.prompts.deleteTexts("s"));
    expect(holds()).toBe(false);
  });

  it("refuses a running plan that was never kept", () => {
    store.clusters.insert({ ...spec, nodes: [...spec.nodes] }, now);
    expect(() => store.clusters.setRunning("c", { planId: "f".repeat(64), since: now })).toThrow(/FOREIGN KEY/);
  });

  /** A folder with a store as it was before a migration, and the store's file, open. */
  function storeBefore(migration: string): readonly [string, Sqlite.Database] {
    const before = join(folder, "before");
    cpSync("server/store/migrations", join(before, "migrations"), { recursive: true });
    const journal = join(before, "migrations", "meta", "_journal.json");
    const { entries, ...rest } = JSON.parse(readFileSync(journal, "utf8")) as { entries: { tag: string }[] };
    const at = entries.findIndex(({ tag }) => tag.endsWith(migration));
    writeFileSync(journal, JSON.stringify({ ...rest, entries: entries.slice(0, at) }));
    const client = new Sqlite(join(before, "weir.db"));
    migrate(drizzle(client), { migrationsFolder: join(before, "migrations") });
    return [before, client];
  }

  it("counts approvals that were given before they named a cluster for the cluster of their plan", () => {
    const [before, client] = storeBefore("approvals_by_cluster");
    client.prepare("INSERT INTO plans VALUES ('p', 'staging', ?, '{}')").run(now);
    client.prepare("INSERT INTO approvals (plan_id, actor, at, reason) VALUES ('p', 'a', ?, 'why')").run(now);
    client.close();
    const upToDate = openStore(before);
    expect(upToDate.approvals.ofPlan("p")).toEqual([{ planId: "p", clusterId: "staging", actor: "a", at: now, reason: "why" }]);
    upToDate.close();
  });

  it("keeps approvals that were given under the old rule, and counts none of them as an approval of what a plan and its connection are", () => {
    const [before, client] = storeBefore("approval_hashes");
    client.prepare("INSERT INTO plans (id, cluster_id, created_at, document) VALUES ('p', 'c', ?, '{}')").run(now);
    client.prepare("INSERT INTO approvals (plan_id, cluster_id, actor, at, reason) VALUES ('p', 'c', 'a', ?, 'why')").run(now);
    client.close();
    const upToDate = openStore(before);
    expect(upToDate.approvals.standing("p")).toEqual([
      { planId: "p", clusterId: "c", actor: "a", at: now, reason: "why", standing: "earlier-rule" },
    ]);
    expect(upToDate.plans.claimed("p")).toBeNull();
    upToDate.close();
  });

  it("takes over a predictor that was kept before confidences of planning prompts were", () => {
    const [before, client] = storeBefore("confidence_scores");
    const training = JSON.stringify({ workloadId: "w" });
    client.prepare("INSERT INTO artefacts VALUES ('h', 'confidence', 1, ?, 'a', ?, '{\"prompts\":3}', x'0102')").run(now, training);
    client.close();
    const upToDate = openStore(before);
    expect([upToDate.artefacts.scored(), upToDate.artefacts.scores("h")]).toEqual([[], null]);
    const scores = { models: [{ model: "m", labels: "b" }], scores: Float32Array.of(0.5) };
    upToDate.artefacts.keepScores("h", scores);
    expect(upToDate.artefacts.scores("h")).toEqual(scores);
    expect(upToDate.artefacts.get("h")?.artefact).toMatchObject({ kind: "confidence", bytes: 2, heldOut: { prompts: 3 } });
    upToDate.close();
  });

  it("chains the audit that an earlier version wrote, and says so in the first line of the chain", () => {
    const [before, client] = storeBefore("audit_chain");
    const insert = client.prepare("INSERT INTO audit (at, actor, action, subject, detail) VALUES (?, 'a', 'approve', 'p', ?)");
    for (const detail of ["one", "two"]) insert.run(now, detail);
    client.close();
    openStore(before).close();
    const [first, ...rest] = [...openAgain(before)];
    expect(first).toMatchObject({ id: 0, detail: expect.stringMatching(/^2 earlier lines were chained at this time/) });
    expect(rest.map(({ detail }) => detail)).toEqual(["one", "two"]);
    expect(verifyAudit(before)).toMatchObject({ ok: true, extent: { lines: 3 } });
  });

  function openAgain(before: string) {
    const again = openStore(before);
    const lines = [...again.audit.linked({})];
    again.close();
    return lines;
  }

  it("writes all of a transaction or nothing", () => {
    expect(() =>
      store.atomically(() => {
        store.audit.add({ at: now, actor: "a", action: "x", subject: "", detail: "" });
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(store.audit.list(10)).toEqual([]);
  });

  it("saves an application again in place", () => {
    store.clusters.insert({ ...spec, nodes: [...spec.nodes] }, now);
    const base = {
      id: "a1",
      clusterId: "c",
      planId: null,
      previousPlanId: null,
      hasWayBack: true,
      kind: "rollback" as const,
      startedAt: now,
    };
    const ending = { endedAt: null, error: null, undoing: false, rollBackOnRegression: false, halt: null, verification: null };
    const rest = { ...ending, graceEndsAt: null, steps: [], actor: "a" };
    store.applications.save({ ...base, ...rest, state: "grace" });
    store.applications.save({ ...base, ...rest, state: "running" });
    expect(store.applications.open().map((one) => one.state)).toEqual(["running"]);
    store.applications.save({ ...base, ...rest, state: "done", endedAt: later });
    expect(store.applications.open()).toEqual([]);
    expect(store.applications.get("a1")?.endedAt).toBe(later);
  });

  it("closes a state folder that other users may read, before anything is in it", () => {
    const open = mkdtempSync(join(tmpdir(), "weir-open-"));
    chmodSync(open, 0o755);
    openStore(open).close();
    expect((statSync(open).mode & 0o777).toString(8)).toBe("700");
    rmSync(open, { recursive: true });
  });

  it("says in a sentence that the folder cannot be written", needs(condition("a user other than root", process.getuid?.() !== 0)), () => {
    const locked = mkdtempSync(join(tmpdir(), "weir-locked-"));
    chmodSync(locked, 0o500);
    expect(() => openStore(locked)).toThrow(/No permission to write .* set WEIR_STATE_DIR/);
  });
});
