import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { condition, needs } from "@/scripts/needs.mjs";
import { addonsFolder } from "@/server/addons/addonFolder";
import { createAddonKeeper } from "@/server/addons/addonKeeper";
import { prepareRealModels } from "@/server/realModels/prepareRealModels";
import type { Kill } from "./moments";
import { rollOutSeries } from "./realRollOut";
import type { RollOutRecord } from "./rollOutRecords";

const isThere = createAddonKeeper(addonsFolder(process.env)).state("real-engine").kind === "ready";

/** One moment of each process, and an engine that loads. */
const kills: readonly (Kill | null)[] = [
  null,
  { victim: "gateway", moment: "at the switch" },
  { victim: "studio", moment: "while the old engine drains" },
  { victim: "engine", moment: "before it" },
  { victim: "engine", moment: "while the new engine loads" },
];

it("loses no request and garbles no answer on real engines from one model to a cascade and back, whichever process is killed", {
  ...needs(condition("the add-on real-engine", isThere)),
  timeout: 1_200_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-real-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const prepared = await prepareRealModels(folder, ["gguf"]);
  expect(prepared).toMatchObject({ ok: true });
  const records: RollOutRecord[] = [];
  const series = {
    engine: "weir",
    models: folder,
    kills,
    loadSeconds: null,
    requestsPerSecond: 5,
    runSeconds: 300,
    minutes: 20,
  } as const;
  expect(await rollOutSeries({ ...series, onRecord: (record) => records.push(record) })).toBeNull();
  expect(records.map(({ kill, error }) => ({ kill, error }))).toEqual(kills.map((kill) => ({ kill, error: null })));
  expect(records.map(({ missed }) => missed)).toEqual(kills.map((kill) => (kill === null ? undefined : false)));
  for (const { sent, failed, garbled } of records) {
    expect(sent).toBeGreaterThan(50);
    expect({ failed, garbled }).toEqual({ failed: 0, garbled: 0 });
  }
  // A killed gateway broke connections, and clients asked again.
  expect(records[1]?.lostAttempts).toBeGreaterThan(0);
  expect(records[0]?.loadSeconds).toBeGreaterThan(0);
  // The roll-out halted with its new engine killed, and went on.
  expect(records.at(-1)).toMatchObject({ point: { newEngine: "loading" }, acts: ["resumed the halted roll-out"] });
});
