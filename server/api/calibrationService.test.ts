import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCardShelf } from "@/server/cards/cardShelf";
import type { CheckEvent } from "@/server/contracts/studio";
import { openStore, type Store } from "@/server/store/store";
import { predictServing } from "@/solver/calibration/predictServing";
import { readServingRow } from "@/solver/calibration/readServingRow";
import { engineProfiles } from "@/solver/hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import { createCalibrationService, profileInUse } from "./calibrationService";
import type { CalibrationService } from "./services";
import { createUploads, type Uploads } from "./uploads";

const HEADER = "model,gpu,engine,isl,osl,concurrency,precision,ttft_ms,tpot_ms";
const names = HEADER.split(",");

/** A run as an engine of other host times than the built-in profile's would measure it. */
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

describe("calibration", () => {
  let folder: string;
  let store: Store;
  let uploads: Uploads;
  let service: CalibrationService;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-calibration-"));
    store = openStore(folder);
    uploads = createUploads(folder);
    service = createCalibrationService(store, uploads, createCardShelf(folder));
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

  it("tells what is in a table, then predictions, then errors by group; a second look is the same", async () => {
    const id = await upload([...runs, "mystery-1b,h100-sxm,vllm,100,40,1,bf16,1,1", "llama-3.1-8b,h100-sxm,vllm,none,40,1,bf16,1,1"]);
    const events = await check(id, "vllm");
    expect(events[0]).toMatchObject({ kind: "table", rows: 10, unsupported: [{ line: 12 }], bad: [expect.stringContaining("isl")] });
    const predictions = events.flatMap((event) => (event.kind === "predicted" ? event.predictions : []));
    expect(predictions).toHaveLength(10);
    // What these runs were measured by takes 100 ms more outside of the steps than the profile knows of.
    expect(predictions.every(({ errors }) => (errors.ttft ?? 0) < -0.2)).toBe(true);
    const last = events.at(-1);
    expect(last?.kind === "checked" && last.errors.find(({ group }) => group === "all")?.ttft?.rows).toBe(10);
    expect(await check(id, "vllm")).toEqual(events);
  });

  it("finds the host times behind the runs, keeps the profile, plans with it and goes back", async () => {
    const uploadId = await upload(runs);
    const answer = await service.fit({ uploadId, profileId: "vllm", engine: "vllm", efficiencies: false, name: "ours" }, signal());
    if (!answer.ok) throw new Error(answer.message);
    const { profile, trainErrors } = answer.fit;
    expect(profile.coefficients.requestSeconds).toBeCloseTo(0.1, 2);
    // The profile before was more than 20 % off on every one.
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

  it("says what is missing when upload, profile or runs are not there", async () => {
    const gone = "00000000-0000-4000-8000-000000000000";
    expect(await check(gone, "vllm")).toEqual([{ kind: "refused", message: expect.stringContaining("send it again") }]);
    const uploadId = await upload(runs);
    expect(await check(uploadId, "nothing")).toEqual([{ kind: "refused", message: expect.stringContaining("choose another") }]);
    const fit = await service.fit({ uploadId, profileId: "vllm", engine: "trtllm", efficiencies: false, name: "x" }, signal());
    expect(fit).toMatchObject({ ok: false, message: expect.stringContaining("TensorRT-LLM") });
  });

  it("stops working when nobody waits any more, and goes on with the next", async () => {
    const uploadId = await upload(runs);
    const stop = new AbortController();
    const fit = service.fit({ uploadId, profileId: "vllm", engine: "vllm", efficiencies: true, name: "stopped" }, stop.signal);
    setTimeout(() => stop.abort(), 300);
    await expect(fit).rejects.toThrow();
    expect((await check(uploadId, "vllm")).at(-1)?.kind).toBe("checked");
  });
});
