import { createReadStream, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { PromptSet } from "@/server/contracts/studio";
import { openStore, type Store } from "@/server/store/store";
import { createUploads, type Uploads } from "@/server/store/uploads";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { surveyUpload } from "../surveyUpload";
import { createPromptService } from "./promptService";

const marker = "PLATYPUS-9417";
const lines = Array.from({ length: 300 }, (_, at) =>
  JSON.stringify({
    id: `q${at}`,
    category: at % 3 === 0 ? "law" : "chat",
    messages: [{ role: "user", content: `${marker} question ${at}` }],
  }),
);
const { signal } = new AbortController();
const cards = catalogueOf(noUserCards);

describe("samples of prompts", () => {
  let folder: string;
  let store: Store;
  let uploads: Uploads;
  let service: ReturnType<typeof createPromptService>;
  const open = (): void => {
    store = openStore(folder);
    uploads = createUploads(folder);
    service = createPromptService({ store, uploads, gatewayOf: () => null });
  };
  const close = (): void => {
    service.close();
    store.close();
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-prompt-service-"));
    open();
  });
  afterEach(() => {
    close();
    rmSync(folder, { recursive: true });
  });

  async function upload(content: string, name = "mine.jsonl"): Promise<string> {
    const saved = await uploads.save(Readable.from([Buffer.from(content)]), name);
    if (!saved.ok) throw new Error(saved.message);
    return saved.id;
  }
  async function sample(retentionDays: number | null, size = 60, name = "mine"): Promise<PromptSet> {
    const uploadId = await upload(lines.join("\n"));
    const outcome = await service.sample({ uploadId, name, size, by: ["category"], draw: 1, retentionDays }, "ada");
    const set = outcome.ok ? store.prompts.get(outcome.id) : null;
    if (set === null) throw new Error("no sample");
    return set;
  }
  const filesWith = (text: string): readonly string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && readFileSync(join(entry.parentPath, entry.name)).includes(text))
      .map(({ name }) => name);
  const profileOn = (promptSetId: string, state: "running" | "paused" | "done") =>
    store.profiles.insert({
      ...{ id: "p", createdAt: "2026-01-01T00:00:00.000Z", actor: "ada", promptSetId, state, pause: null },
      request: {
        ...{ name: "evening run", promptSetId, models: [], measures: [], concurrency: 1, requestsPerMinute: null },
        ...{ capUsd: null, maxOutputTokens: 1, keepAnswers: true, gates: { confidence: false, samples: null } },
      },
    });

  it("surveys an upload, samples it once, and forgets the file", async () => {
    const uploadId = await upload(`${lines.join("\n")}\nnot json`);
    const survey = await surveyUpload({ uploads, id: uploadId, kind: "prompts", cards, signal });
    expect(survey).toMatchObject({ ok: true, form: "chat", prompts: 300, skipped: 1 });
    const request = { uploadId, name: "mine", size: 60, by: ["category"] as const, draw: 2, retentionDays: 30 };
    const [outcome, meanwhile] = await Promise.all([service.sample(request, "ada"), service.sample(request, "bob")]);
    expect(meanwhile).toEqual({ ok: false, message: "A sample of this file is being taken already." });
    expect(service.list()).toMatchObject([
      {
        ...{ id: outcome.ok && outcome.id, name: "mine", actor: "ada", from: "mine.jsonl", population: 300, prompts: 60, skipped: 1 },
        ...{ deleted: false, expiresAt: expect.any(String) },
        strata: [
          { name: "chat", population: 200, sampled: 40 },
          { name: "law", population: 100, sampled: 20 },
        ],
      },
    ]);
    const [set] = service.list();
    expect(store.prompts.count(set?.id ?? "")).toBe(60);
    expect(Date.parse(set?.expiresAt ?? "") - Date.parse(set?.createdAt ?? "")).toBe(30 * 86_400_000);
    expect(await service.sample(request, "ada")).toEqual({ ok: false, message: "The uploaded file is not kept any more: send it again." });
    expect(store.audit.list(10)).toMatchObject([
      { actor: "ada", action: "sample prompts", subject: "mine", detail: "60 of 300 of mine.jsonl, draw 2, kept for 30 days" },
    ]);
    expect(filesWith(marker).filter((name) => !name.startsWith("weir.db"))).toEqual([]);
  });

  it("deletes an upload that is put away", async () => {
    const uploadId = await upload(lines.join("\n"));
    expect(service.archive(uploadId)).toEqual({ ok: true });
    expect([uploads.file(uploadId), filesWith(marker)]).toEqual([null, []]);
    expect(service.archive(uploadId)).toEqual({ ok: true });
  });

  it("does not put away what is being sampled", async () => {
    const uploadId = await upload(lines.join("\n"));
    const sampled = service.sample({ uploadId, name: "mine", size: 60, by: [], draw: 1, retentionDays: null }, "ada");
    expect(service.archive(uploadId)).toMatchObject({ ok: false, message: expect.stringContaining("being taken") });
    expect(await sampled).toMatchObject({ ok: true });
  });

  it("refuses a name that another sample has or is about to have, and keeps the upload for another one", async () => {
    const [first, second] = [await upload(lines.join("\n")), await upload(lines.join("\n"))];
    const request = { name: "mine", size: 60, by: [], draw: 1, retentionDays: null };
    const refused = { ok: false, message: 'There is a sample "mine" already: give this one another name.' };
    const taking = service.sample({ ...request, uploadId: first }, "ada");
    expect(await service.sample({ ...request, uploadId: second }, "ada")).toEqual(refused);
    const taken = await taking;
    expect(await service.sample({ ...request, uploadId: second }, "ada")).toEqual(refused);
    expect(taken.ok && service.deleteTexts(taken.id, "ada")).toEqual({ ok: true });
    expect(await service.sample({ ...request, uploadId: second }, "ada")).toMatchObject({ ok: true });
  });

  it("knows all of a file exactly, but not the traffic that a file is a part of", async () => {
    const pointsOf = async (name: string, ofTraffic?: boolean): Promise<number | undefined> => {
      const uploadId = await upload(lines.slice(0, 4).join("\n"));
      const request = { uploadId, name, size: 4, by: [], draw: 1, retentionDays: null, ...(ofTraffic && { ofTraffic }) };
      const outcome = await service.sample(request, "ada");
      return outcome.ok ? store.prompts.get(outcome.id)?.interval.points : undefined;
    };
    expect(await pointsOf("file")).toBe(0);
    expect(await pointsOf("traffic", true)).toBeCloseTo(41.1, 1);
  });

  it("keeps nothing of a file that cannot be read", async () => {
    const id = await upload("Dear all", "letter.txt");
    expect(await surveyUpload({ uploads, id, kind: "prompts", cards, signal })).toMatchObject({
      ok: false,
      message: expect.stringContaining("letter.txt has no line that can be read as a prompt"),
    });
    expect(uploads.file(id)).toBeNull();
    const uploadId = await upload("Dear all");
    expect(await service.sample({ uploadId, name: "x", size: 5, by: [], draw: 1, retentionDays: null }, "ada")).toMatchObject({
      ok: false,
    });
    expect(service.list()).toEqual([]);
  });

  it("deletes the texts by hand, not while a profile asks them, and nothing of them stays in the state folder", async () => {
    const { id } = await sample(null);
    expect(filesWith(marker)).not.toEqual([]);
    profileOn(id, "paused");
    store.profiles.saveCalls("p", [
      {
        ...{ profileId: "p", position: 0, model: "m", measureId: "", reading: 0, state: "done", attempts: 1 },
        ...{ at: "2026-01-01T00:00:00.000Z", usd: 0, answer: `${marker} indeed` },
      },
    ]);
    expect(service.deleteTexts(id, "ada")).toEqual({
      ok: false,
      message: 'The profile "evening run" still asks these prompts: stop it, or let it end, first.',
    });
    store.profiles.setState("p", "done", null);
    expect(service.deleteTexts(id, "ada")).toEqual({ ok: true });
    expect(service.list()).toMatchObject([{ id, deleted: true, prompts: 60 }]);
    expect(store.profiles.hasAnswers("p")).toBe(false);
    expect(service.deleteTexts(id, "ada")).toEqual({ ok: false, message: 'The texts of "mine" are deleted already.' });
    expect(store.audit.list(1)).toMatchObject([{ actor: "ada", action: "delete prompts", subject: "mine" }]);
    expect(filesWith(marker)).toEqual([]);
  });

  it("deletes what is over when the studio starts, and keeps what is not", async () => {
    const [{ id: over }, { id: kept }] = [await sample(1), await sample(null, 60, "other")];
    const set = store.prompts.get(over);
    if (set === null) throw new Error("no sample");
    const { deleted: _, ...summary } = set;
    store.prompts.finish({ ...summary, expiresAt: "2026-01-01T00:00:00.000Z" });
    close();
    open();
    expect(store.prompts.get(over)).toMatchObject({ deleted: true });
    expect(store.prompts.get(kept)).toMatchObject({ deleted: false });
    expect(store.audit.list(1)).toMatchObject([
      { actor: "studio", action: "delete prompts", detail: expect.stringContaining("time was over") },
    ]);
  });

  it("takes back a sample that a killed studio had begun", async () => {
    store.prompts.begin("begun", "2026-01-01T00:00:00.000Z");
    store.prompts.add("begun", 0, [
      { ...{ id: "a", category: "", atMs: null, reference: null, test: null }, body: { messages: [{ role: "user", content: marker }] } },
    ]);
    close();
    open();
    expect([service.list(), store.prompts.count("begun")]).toEqual([[], 0]);
  });

  it("refuses prompts of a gateway that is not there", async () => {
    expect(await service.takeFromGateway({ clusterId: "none", from: "records" }, "ada")).toEqual({
      ok: false,
      message: "This cluster is not connected: it has no gateway to ask.",
    });
  });

  it("says how large a file of prompts may be, and keeps nothing of a larger one", async () => {
    const path = join(folder, "large.jsonl");
    writeFileSync(path, lines.join("\n"));
    const saved = await uploads.save(createReadStream(path), "large.jsonl", 1000);
    expect(saved).toMatchObject({ ok: false, message: expect.stringContaining("larger than") });
    expect(readdirSync(join(folder, "uploads"))).toEqual([]);
  });
});
