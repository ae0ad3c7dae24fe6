import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { profileInUse } from "@/server/calibration/profileInUse";
import { createCardStore } from "@/server/cards/cardStore";
import type { CheckEvent, FitState } from "@/server/contracts/studio";
import { openStore, type Store } from "@/server/store/store";
import { createUploads, type Uploads } from "@/server/store/uploads";
import { predictServing } from "@/solver/calibration/predictServing";
import { readServingRow } from "@/solver/calibration/readServingRow";
import { engineProfiles } from "@/solver/hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import { type CalibrationService, createCalibrationService } from "./calibrationService";

const HEADER = "model,gpu,engine,isl,osl,concurrency,precision,ttft_ms,tpot_ms";
const names = HEADER.split(",");

/** A run as measured on an engine whose host times differ from the built-in profile's. */
function measuredBy(profile: EngineProfile, cells: readonly (string | number)[]): string {
  const record = Object.fromEntries(names.map((name, index) => [name, String(cells[index] ?? "")]));
  const cards = catalogueOf(noUserCards);
  const read = readServingRow(record, 2, cards);
  const answer = read.outcome === "row" ? predictServing(read.row, profile, cards) : null;
  if (answer?.outcome !== "predicted") throw new Error("the run cannot be simulated");
  return [...cells, 1000 * answer.meanTtftSeconds, 1000 * answer.meanTpotSeconds].join(",");
}

const truth: EngineProfile = {
  ...engineProfiles.vllm,
  coefficients: { ...engineProfiles.vllm.coefficients, requestSeconds: 0.1, sequenceSeconds: 1e-4 },
};
const runs = [1, 2, 4, 8, 16].flatMap((concurrency) =>
  [100, 1000].map((prompt) => measuredBy(truth, ["llama-3.1-8b", "h100-sxm", "vllm", prompt, 40, concurrency, "bf16"])),
);

const sourceOf = async () => ({ ok: false, message: "There is no cluster here." }) as const;

describe("calibration", () => {
  let folder: string;
  let store: Store;
  let uploads: Uploads;
  let service: CalibrationService;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-calibration-"));
    store = openStore(folder);
    uploads = createUploads(folder);
    service = createCalibrationService({ store, uploads, cards: createCardStore(folder), sourceOf });
  });
  afterAll(() => {
    store.close();
    rmSync(folder, { recursive: true });
  });

  const signal = () => new AbortController().signal;
  async function upload(lines: readonly string[]): Promise<string> {
    async function* body() {
      yield Buffer.from([HEADER, ...lines].join("\n"));
    }
    const saved = await uploads.save(body(), "runs.csv");
    if (!saved.ok) throw new Error(saved.message);
    return saved.id;
  }
  async function check(uploadId: string, profileId: string): Promise<CheckEvent[]> {
    const events: CheckEvent[] = [];
    for await (const event of service.check({ uploadId, profileId }, signal())) events.push(event);
    return events;
  }

  async function fitted(uploadId: string, tpotOnly = false): Promise<FitState> {
    const request = { uploadId, profileId: "vllm", engine: "vllm", efficiencies: false, tpotOnly, name: "ours" } as const;
    const started = await service.startFit(request);
    if (!started.ok) throw new Error(started.message);
    return vi.waitUntil(() => ended(service.fit(started.id)), { timeout: 30_000 });
  }
  const ended = (state: FitState | null): FitState | null => (state?.kind === "running" ? null : state);

  it("tells what is in a table, then predictions, then errors by group; a second look is the same", async () => {
    const id = await upload([...runs, "mystery-1b,h100-sxm,vllm,100,40,1,bf16,1,1", "llama-3.1-8b,h100-sxm,vllm,none,40,1,bf16,1,1"]);
    const events = await check(id, "vllm");
    expect(events[0]).toMatchObject({
      kind: "table",
      rows: 10,
      unsupported: [{ line: 12 }],
      bad: [{ line: 13, reason: expect.stringContaining("isl") }],
    });
    const predictions = events.flatMap((event) => (event.kind === "predicted" ? event.predictions : []));
    expect(predictions).toHaveLength(10);
    // The measurements of these runs include 100 ms outside of the steps that the profile does not model.
    expect(predictions.every(({ errors }) => (errors.ttft ?? 0) < -0.2)).toBe(true);
    const last = events.at(-1);
    expect(last?.kind === "checked" && last.errors.find(({ group }) => group === "all")?.ttft?.rows).toBe(10);
    expect(await check(id, "vllm")).toEqual(events);
  });

  it("finds the host times behind the runs, keeps the profile, plans with it and goes back", async () => {
    const uploadId = await upload(runs);
    const state = await fitted(uploadId);
    if (state.kind !== "fitted") throw new Error(state.kind);
    const { profile, trainErrors } = state.fit;
    expect(profile.coefficients.requestSeconds).toBeCloseTo(0.1, 2);
    // The previous profile was more than 20 % off on every one.
    expect(trainErrors.ttft.meanAbsolute).toBeLessThan(0.05);

    expect(service.use(profile.id, "ann")).toMatchObject({ ok: false });
    expect(service.keep(profile, "ann")).toEqual({ ok: true, id: profile.id });
    expect(service.keep({ ...profile, id: "other" }, "ann")).toMatchObject({ ok: false, message: expect.stringContaining('"ours"') });
    expect(profileInUse(store)).toEqual(engineProfiles.vllm);
    expect(service.use(profile.id, "ann")).toEqual({ ok: true });
    expect(profileInUse(store)).toEqual(profile);
    expect(service.remove(profile.id, "ann")).toMatchObject({ ok: false });
    expect(service.use("vllm", "ann")).toEqual({ ok: true });
    expect(service.remove(profile.id, "ann")).toEqual({ ok: true });
    expect(service.list()).toMatchObject({ own: [], inUse: "vllm" });
    expect(store.audit.list(10).map(({ action }) => action)).toEqual([
      "remove engine profile",
      "plan with engine profile",
      "plan with engine profile",
      "keep engine profile",
    ]);
  });

  it("keeps a profile of a file under an id of its own where the file's is taken, plans with it, and takes no name twice", () => {
    const first = { ...truth, id: "vllm-ours", name: "from a file" };
    expect(service.importProfile(first, "ann")).toEqual({ ok: true, id: "vllm-ours" });
    expect(service.importProfile(first, "ann")).toMatchObject({ ok: false, message: expect.stringContaining('"from a file"') });
    const second = { ...first, name: "from a file (2)", coefficients: { ...truth.coefficients, requestSeconds: 0.3 } };
    const kept = service.importProfile(second, "ann");
    if (!kept.ok) throw new Error(kept.message);
    expect(kept.id).not.toBe("vllm-ours");
    expect(service.list().own.map(({ profile }) => profile.name)).toEqual(["from a file", "from a file (2)"]);
    expect(service.use(kept.id, "ann")).toEqual({ ok: true });
    expect(profileInUse(store)).toEqual({ ...second, id: kept.id });
    expect(store.audit.list(2).map(({ action, subject }) => [action, subject])).toContainEqual([
      "import engine profile",
      "from a file (2)",
    ]);
    service.use("vllm", "ann");
    for (const id of ["vllm-ours", kept.id]) expect(service.remove(id, "ann")).toEqual({ ok: true });
  });

  it("says what is missing when upload, profile or runs are not there", async () => {
    const gone = "00000000-0000-4000-8000-000000000000";
    expect(await check(gone, "vllm")).toEqual([{ kind: "refused", message: expect.stringContaining("send it again") }]);
    const uploadId = await upload(runs);
    expect(await check(uploadId, "nothing")).toEqual([{ kind: "refused", message: expect.stringContaining("choose another") }]);
    const options = { efficiencies: false, tpotOnly: false, name: "x" };
    const fit = await service.startFit({ uploadId, profileId: "vllm", engine: "trtllm", ...options });
    expect(fit).toMatchObject({ ok: false, message: expect.stringContaining("TensorRT-LLM") });
  });

  it("does not block: a check is answered while fits are under way, and one that nobody waits for any more ends", async () => {
    const uploadId = await upload(runs);
    const request = { uploadId, profileId: "vllm", engine: "vllm", efficiencies: true, tpotOnly: false, name: "long" } as const;
    const started = await Promise.all([1, 2, 3].map(() => service.startFit(request)));
    const ids = started.map((one) => (one.ok ? one.id : ""));
    const left = new AbortController();
    const abandoned = (async () => {
      for await (const event of service.check({ uploadId, profileId: "trtllm" }, left.signal)) if (event.kind === "table") left.abort();
    })();
    await expect(abandoned).rejects.toThrow();
    expect((await check(uploadId, "sglang")).at(-1)?.kind).toBe("checked");
    // The third is waiting: stopping it ends no thread.
    for (const id of ids) expect(service.stopFit(id)).toEqual({ ok: true });
    expect(ids.map((id) => service.fit(id)?.kind)).toEqual(["stopped", "stopped", "stopped"]);
    expect((await fitted(uploadId, true)).kind).toBe("fitted");
    expect(service.fit("nothing")).toBeNull();
    expect(service.stopFit("nothing")).toMatchObject({ ok: false });
  });
});
