import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { simulateClosedLoop } from "../engine/simulateClosedLoop";
import { simulateReplica } from "../engine/simulateReplica";
import { engineProfiles } from "../hardware/builtInProfiles";
import { cardOf, catalogueOf, noUserCards } from "../hardware/catalogue";
import { replicaModel } from "../hardware/replicaShapes";
import { mean } from "../numeric/quantile";
import { seededRandom } from "../numeric/random";
import { type LiveEngine, liveRows, liveTable, spreadRows } from "./liveRows";
import { predictServing } from "./predictServing";
import { readServingRow } from "./readServingRow";
import { type SteadyWindow, steadyWindows } from "./steadyWindows";
import { telemetryOf } from "./testing/testTelemetry";

const cards = catalogueOf(noUserCards);
const profile = engineProfiles.vllm;
const engine: LiveEngine = {
  origin: "live",
  version: "0.30.0",
  engine: "vllm",
  model: "llama-3.1-8b",
  gpu: "h100-sxm",
  precision: "bf16",
  kvPrecision: "bf16",
  shape: { tp: 1, pp: 1 },
};

function simulated(load: { readonly concurrency: number } | { readonly requestsPerSecond: number }, spread: number) {
  const [model, gpu] = [cardOf(cards.models, engine.model), cardOf(cards.gpus, engine.gpu)];
  const fit = model === undefined || gpu === undefined ? null : replicaModel(model, gpu, engine.shape, profile);
  if (!fit?.fits) throw new Error("it does not fit");
  const random = seededRandom(5);
  const length = (mean: number) =>
    Int32Array.from({ length: 2000 }, () => Math.max(2, Math.round(mean * random.lognormal(-(spread ** 2) / 2, spread))));
  const requests = { inputTokens: length(800), outputTokens: length(200) };
  if ("concurrency" in load) return telemetryOf(simulateClosedLoop(fit.replica, requests, load), requests, 30);
  let at = 0;
  const arrivalSeconds = Float64Array.from({ length: 2000 }, () => (at += random.exponential(load.requestsPerSecond)));
  return telemetryOf(simulateReplica(fit.replica, { ...requests, arrivalSeconds }), requests, 30);
}

/** Predicted over measured, minus 1, averaged over some rows. */
function errorsOf(history: ReturnType<typeof simulated>) {
  const rows = liveRows(steadyWindows(history).windows, engine, String).slice(0, 6);
  const predictions = rows.map((row) => predictServing(row, profile, cards)).flatMap((one) => (one.outcome === "predicted" ? [one] : []));
  const error = (metric: "ttft" | "tpot" | "endToEnd") => mean(predictions.map(({ errors }) => errors[metric] ?? Number.NaN));
  return { rows: rows.length, ttft: error("ttft"), tpot: error("tpot"), endToEnd: error("endToEnd") };
}

describe("rows from an engine's telemetry", () => {
  it.each([1, 2, 8, 30])("say of a closed loop of %i what the simulator says of it", (concurrency) => {
    const { rows, ttft, tpot, endToEnd } = errorsOf(simulated({ concurrency }, 0.2));
    expect(rows).toBeGreaterThan(0);
    expect(Math.abs(ttft)).toBeLessThan(0.04);
    expect(Math.abs(tpot)).toBeLessThan(0.02);
    expect(Math.abs(endToEnd)).toBeLessThan(0.02);
  });

  it.each([
    [0.33, 0.2],
    [1.33, 0.2],
    [1.33, 0.8],
    [5.33, 0.2],
    [5.33, 0.8],
  ])("say nearly the same where requests come at random, %d a second, lengths spread by %d", (requestsPerSecond, spread) => {
    const { rows, ttft, tpot, endToEnd } = errorsOf(simulated({ requestsPerSecond }, spread));
    expect(rows).toBeGreaterThan(0);
    expect(Math.abs(ttft)).toBeLessThan(0.08);
    expect(Math.abs(tpot)).toBeLessThan(0.02);
    expect(Math.abs(endToEnd)).toBeLessThan(0.04);
  });
});

const positive = (most: number) => fc.double({ min: 1, max: most, noNaN: true });
const windows = fc.array(
  fc.record<SteadyWindow>({
    fromMs: fc.integer({ min: 1_700_000_000_000, max: 1_800_000_000_000 }),
    toMs: fc.constant(1_900_000_000_000),
    requests: positive(1e5),
    concurrency: positive(100),
    requestsPerSecond: positive(100),
    inputTokens: positive(4000),
    outputTokens: positive(1000),
    ttftSeconds: fc.double({ min: 1e-4, max: 100, noNaN: true }),
    tpotSeconds: fc.double({ min: 1e-4, max: 10, noNaN: true }),
    endToEndSeconds: positive(100),
  }),
  { minLength: 1, maxLength: 30 },
);

describe("a table of live rows", () => {
  it("is read back as the rows it was made of", () => {
    fc.assert(
      fc.property(windows, fc.constantFrom("live", "emulated"), (some, origin) => {
        const rows = liveRows(some, { ...engine, origin }, ({ fromMs }) => `a ${fromMs}`);
        const [header = "", ...lines] = liveTable(rows).trimEnd().split("\n");
        const names = header.split(",");
        for (const [index, { window: _, version: __, measured, ...row }] of rows.entries()) {
          const cells = (lines[index] ?? "").split(",");
          const read = readServingRow(Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ""])), index + 2, cards);
          const { ttftSeconds, tpotSeconds } = measured;
          const close = { ttftSeconds: expect.closeTo(ttftSeconds ?? 0, 9), tpotSeconds: expect.closeTo(tpotSeconds ?? 0, 9) };
          expect(read).toEqual({ outcome: "row", row: { ...row, measured: close } });
        }
      }),
    );
  });

  it("quotes what would break a line", () => {
    const [window] = steadyWindows(simulated({ concurrency: 8 }, 0.2)).windows;
    expect(liveTable(liveRows(window === undefined ? [] : [window], engine, () => "a,b")).split("\n")[1]).toMatch(/^"a,b",live,vllm/);
  });

  it("keeps the least and the most loaded of too many rows, and what it keeps in order of time", () => {
    fc.assert(
      fc.property(windows, fc.integer({ min: 2, max: 10 }), (some, most) => {
        const rows = liveRows(some, engine, ({ fromMs }) => `a ${fromMs}`);
        const kept = spreadRows(rows, most);
        expect(kept).toHaveLength(Math.min(most, rows.length));
        const loads = (of: typeof rows) => of.map(({ window }) => window.concurrency);
        expect([Math.min(...loads(kept)), Math.max(...loads(kept))]).toEqual([Math.min(...loads(rows)), Math.max(...loads(rows))]);
        if (rows.length > most)
          for (const [at, row] of kept.entries()) expect(row.window.fromMs).toBeGreaterThanOrEqual(kept[at - 1]?.window.fromMs ?? 0);
      }),
    );
  });
});
