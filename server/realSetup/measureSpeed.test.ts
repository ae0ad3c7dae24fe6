import { expect, test } from "vitest";
import type { MadeProfile, Outcome } from "@/server/contracts/studio";
import type { RealSetupRecord } from "@/server/store/documents/realSetupRecord";
import type { MeasuredEngine } from "@/solver/hardware/measuredEngine";
import { joinMeasured, type MeasuredProfile, measuredProfile } from "@/solver/hardware/measuredProfile";
import { measureSpeed, type SpeedParts } from "./measureSpeed";
import type { StepContext } from "./setupStep";

/** A studio whose measurements end as `answers` say, in turn. */
function studio(answers: readonly ("measured" | "too few")[], active: readonly string[] = []) {
  const started: { model: string | null; minutes: number }[] = [];
  const used: string[] = [];
  const removed: string[] = [];
  let record: Partial<RealSetupRecord> = { clusterId: "c", speedId: null };
  let ended: Outcome<MadeProfile> = { ok: false, message: "No measurement is under way." };
  const engines = ["arith-small", "arith-large"].map((model) => ({ model, gpu: "cpu-core", url: "http://127.0.0.1:1", stopping: false }));
  const value = { engines, routing: { planId: null, active, cordoned: [] } };
  const parts = {
    fleet: { get: () => ({ connector: { observe: async () => ({ ok: true, value }) } }) },
    store: {
      calibrations: {
        list: () => ["mine", ...used].map((id) => ({ profile: { id } })),
        inUse: () => used.at(-1) ?? "mine",
      },
    },
    measuring: {
      async start({ model, minutes }: { model: string | null; minutes: number }) {
        const answer = answers[started.length];
        started.push({ model, minutes });
        const points = [{ run: { requests: 100, seconds: 10 }, errors: null }] as unknown as MadeProfile["points"];
        const refused = { ok: false, message: "A fit needs 5 different runs, found 3." } as const;
        ended = answer === "measured" ? { ok: true, profileId: `p${started.length}`, points } : refused;
        return { ok: true };
      },
      wait: async () => ended,
    },
    calibrations: {
      use: (id: string) => ({ ok: used.push(id) > 0 }),
      remove: (id: string) => ({ ok: removed.push(id) > 0 }),
    },
  } as unknown as SpeedParts;
  const context: StepContext = {
    ...{ signal: new AbortController().signal, actor: "ada", say: () => undefined },
    keep(made) {
      record = { ...record, ...made };
    },
    record: () => record as RealSetupRecord,
  };
  return { run: () => measureSpeed(parts)(context), started, used, removed, record: () => record };
}

test("measures the small engine, then the large one, and plans with the profile of both", async () => {
  const { run, started, used, removed, record } = studio(["measured", "measured"]);
  expect(await run()).toBe("Both engines were measured in 2 runs; plans use it.");
  expect(started.map(({ model }) => model)).toEqual(["arith-small", "arith-large"]);
  expect([used, removed]).toEqual([["p1", "p2"], ["p1"]]);
  expect(record()).toMatchObject({ speedId: "p2", suggested: { requestsPerSecond: 2.5, qualityFloor: 80 } });
});

test("gives a busy computer one longer try, and then says why there is no measurement", async () => {
  const again = studio(["too few", "measured", "measured"]);
  await again.run();
  expect(again.started.map(({ minutes }) => minutes)).toEqual([0.5, 2.5, 0.8]);
  const never = studio(["too few", "too few"]);
  await expect(never.run()).rejects.toThrow(
    "arith-small was not measured. A fit needs 5 different runs, found 3. Start again to measure it.",
  );
  expect([never.used, never.record()]).toEqual([[], { clusterId: "c", speedId: null }]);
});

test("keeps which profile plans used before, also where the set-up was started again after its first profile", async () => {
  const again = studio(["measured", "too few", "too few", "measured", "measured"]);
  await expect(again.run()).rejects.toThrow(/arith-large was not measured/);
  expect(again.record().replaced).toEqual({ id: "mine", by: "p1" });
  await again.run();
  expect(again.record().replaced).toEqual({ id: "mine", by: "p5" });
});

test("measured before, plans use the kept profile again, and the one that they used meanwhile is kept", async () => {
  const { run, used, record } = studio(["measured", "measured"]);
  await run();
  used.push("chosen meanwhile");
  expect(await run()).toBe("The engines were measured before; plans use it.");
  expect(used.at(-1)).toBe("p2");
  expect(record().replaced).toEqual({ id: "chosen meanwhile", by: "p2" });
});

const span = { least: 1, most: 8 };
const measuredOn = { runs: 9, requests: 90, inputTokens: span, outputTokens: span, concurrency: span, asOf: "2026-11-28", source: "s" };
const profileOf = (id: string, engine: string): MeasuredProfile => {
  const placed = { model: "arith-small", gpu: "cpu-core", shape: { tp: 1, pp: 1 }, errors: null, p95Errors: null };
  return measuredProfile({ id, name: id, engine }, [{ ...placed, measuredOn } as unknown as MeasuredEngine]);
};

test("set up again, plans keep a profile that has the engines of the set-up, and leave one that has not", async () => {
  const own = profileOf("own", "weir-engine");
  const other = profileOf("other", "vllm");
  const joined = { ...joinMeasured([own, other]), id: "joined" };
  const usedAfter = async (inUse: MeasuredProfile): Promise<string> => {
    let used = inUse.id;
    const list = () => [own, other, joined].map((profile) => ({ profile }));
    const use = (id: string) => {
      used = id;
      return { ok: true };
    };
    const parts = { store: { calibrations: { list, inUse: () => used } }, calibrations: { use } } as unknown as SpeedParts;
    const record = () => ({ clusterId: "c", speedId: "own" }) as ReturnType<StepContext["record"]>;
    const context = { signal: new AbortController().signal, actor: "ada", say: () => undefined, keep: () => undefined, record };
    expect(await measureSpeed(parts)(context)).toBe("The engines were measured before; plans use it.");
    return used;
  };
  expect([await usedAfter(joined), await usedAfter(other)]).toEqual(["joined", "own"]);
});

test("sends no load to engines that a plan in force uses", async () => {
  const { run, started } = studio([], ["arith-small-1"]);
  await expect(run()).rejects.toThrow(/A plan is in force, and measuring would take its engines/);
  expect(started).toEqual([]);
});
