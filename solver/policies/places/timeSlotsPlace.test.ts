import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentForecast } from "@/solver/workflow/learning/agentForecast";
import type { Reading, WaitingWork } from "../core/policy";
import type { Place, Slots } from "../core/policyParts";
import { anyForecast } from "../testing/worldOfContract";
import { SLOT_SECONDS } from "./memoryTimeline";
import { timeSlotsPlace } from "./timeSlotsPlace";

const fresh = (value: number): Reading => ({ state: "fresh", value, ageSeconds: 0 });
const absent: Reading = { state: "absent" };

interface Expected {
  readonly input: number;
  readonly seconds?: number;
  readonly perSecond?: number;
}

function workOf(id: string, { input, seconds, perSecond = 0 }: Expected): WaitingWork {
  const forecast: AgentForecast = {
    agent: "app/a",
    distanceSeconds: 1,
    remainingCalls: 1,
    requestSeconds: seconds ?? 0,
    tokensPerSecond: perSecond,
  };
  const queued = { programId: id, stage: 0, programArrivalSeconds: 0, queuedSinceSeconds: 0, state: { kind: "queued" } } as const;
  return { id, inputTokens: input, ...queued, ...(seconds === undefined ? {} : { forecast }) };
}

/** Replicas of one model, driven as `jointPolicy` does. */
class Model {
  readonly place: Place;
  readonly slots: Slots & { readonly kvUse: Reading[]; readonly kvTokens: (number | null)[]; readonly preemptions: Reading[] };

  constructor(
    kvTokens: readonly (number | null)[],
    { place = timeSlotsPlace(), ids = kvTokens.map((_, index) => `r${index}`), model = "m" } = {},
  ) {
    this.place = place;
    this.slots = {
      model,
      replicaIds: ids,
      inFlight: new Int32Array(ids.length),
      capacity: new Int32Array(ids.length).fill(8),
      kvUse: ids.map(() => fresh(0.5)),
      kvTokens: [...kvTokens],
      preemptions: ids.map(() => fresh(0)),
    };
  }

  send(id: string, expected: Expected, nowSeconds = 0): number {
    const chosen = this.place.choose(this.slots, workOf(id, expected), nowSeconds);
    if (chosen >= 0) this.slots.inFlight[chosen]! += 1;
    return chosen;
  }

  end(workId: string, index: number, failed = false): void {
    this.slots.inFlight[index]! -= 1;
    this.place.observe?.({ kind: "finished", workId, replicaId: this.slots.replicaIds[index]!, nowSeconds: 0, failed });
  }

  memory(nowSeconds = 0) {
    return this.place.memoryPlan?.().replicas(this.slots, nowSeconds) ?? [];
  }
}

describe("a place by time slots", () => {
  it("takes the replica whose highest expected use stays lowest, wherever in time that is", () => {
    const model = new Model([1000, 1000]);
    expect(model.send("long", { input: 100, seconds: 10, perSecond: 20 })).toBe(0);
    expect(model.send("wide", { input: 350, seconds: 1 })).toBe(1);
    // With the long one it would be 50 + 300 at the end, with the wide one 50 + 350 at the start.
    expect(model.send("both", { input: 50, seconds: 10 })).toBe(0);
    expect(model.send("both again", { input: 50, seconds: 10 })).toBe(0);
    expect(model.send("last", { input: 50, seconds: 10 })).toBe(1);
  });

  it("takes the first of equals, and counts at once what it chose", () => {
    const model = new Model([1000, 1000, 1000]);
    expect(["a", "b", "c", "d"].map((id) => model.send(id, { input: 10, seconds: 5 }))).toEqual([0, 1, 2, 0]);
  });

  it("holds back what fits nowhere, and sends it when what is there was expected to have ended", () => {
    const model = new Model([1000]);
    expect(model.send("a", { input: 500, seconds: 2, perSecond: 100 })).toBe(0);
    expect(model.send("b", { input: 400, seconds: 2 }, 0.1)).toBe(-1);
    expect(model.send("b", { input: 300, seconds: 2 }, 0.1)).toBe(0);
    expect(model.send("c", { input: 900, seconds: 2 }, 2.4)).toBe(-1);
    expect(model.send("c", { input: 900, seconds: 2 }, 2.5)).toBe(0);
  });

  it("packs what grows behind what ends before it has grown", () => {
    const model = new Model([1000]);
    model.send("ends soon", { input: 600, seconds: 1 });
    expect(model.send("grows", { input: 100, seconds: 8, perSecond: 100 })).toBe(0);
    expect(model.send("no more", { input: 350, seconds: 8 })).toBe(-1);
  });

  it("frees what ends early at once, in slots to come as well, and what failed likewise", () => {
    for (const failed of [false, true]) {
      const model = new Model([1000]);
      model.send("first", { input: 10, seconds: 60 });
      model.send("a", { input: 900, seconds: 60 });
      expect(model.send("b", { input: 900, seconds: 1 })).toBe(-1);
      model.end("a", 0, failed);
      expect(model.send("b", { input: 900, seconds: 1 })).toBe(0);
    }
  });

  it("lets a replica with none of its requests take any, however large, and never goes beyond what may be in flight", () => {
    const model = new Model([1000, 1000]);
    expect(model.send("huge", { input: 5000, seconds: 100 })).toBe(0);
    expect(model.send("huge too", { input: 5000, seconds: 100 })).toBe(1);
    expect(model.send("small", { input: 1, seconds: 1 })).toBe(-1);
    model.end("huge", 0);
    model.slots.capacity[0] = 0;
    expect(model.send("small", { input: 1, seconds: 1 })).toBe(-1);
    model.slots.capacity[0] = 1;
    expect(model.send("small", { input: 1, seconds: 1 })).toBe(0);
    expect(model.send("small too", { input: 1, seconds: 1 })).toBe(-1);
  });

  it("sends to a replica with none of its requests what is expected to hold more than any number, too", () => {
    const model = new Model([null, 1000]);
    const absurd = { input: 10, seconds: 5, perSecond: Number.POSITIVE_INFINITY };
    expect([model.send("a", absurd), model.send("b", absurd)]).toEqual([0, 0]);
    model.slots.capacity[0] = 2;
    expect([model.send("c", absurd), model.send("d", absurd)]).toEqual([1, -1]);
    model.end("c", 1);
    expect(model.send("d", absurd)).toBe(1);
  });

  it("counts the prompt of a request without a forecast for as long as it is there", () => {
    const model = new Model([1000]);
    model.send("unknown", { input: 600 });
    expect(model.send("b", { input: 600, seconds: 1 }, 1000)).toBe(-1);
    model.end("unknown", 0);
    expect(model.send("b", { input: 600, seconds: 1 }, 1000)).toBe(0);
    expect(model.send("unknown too", { input: 401 }, 1000)).toBe(-1);
    expect(model.send("unknown too", { input: 400 }, 1000)).toBe(0);
  });

  it("suspends a replica that preempts until that has cleared, but not once it has nothing", () => {
    const model = new Model([1000, 1000]);
    const small = { input: 10, seconds: 100 };
    expect([model.send("a", small), model.send("b", { input: 50, seconds: 100 })]).toEqual([0, 1]);
    model.slots.preemptions[0] = fresh(3);
    expect(model.send("c", small, 1)).toBe(1);
    expect(model.memory(1).map(({ suspended }) => suspended)).toEqual(["preempts", null]);
    model.slots.kvUse[0] = fresh(0.92);
    expect(model.send("d", small, 2)).toBe(1);
    model.slots.kvUse[0] = fresh(0.5);
    expect(model.send("e", small, 3)).toBe(0);
    model.slots.preemptions[0] = fresh(4);
    model.end("a", 0);
    expect(model.send("f", small, 4)).toBe(1);
    model.end("e", 0);
    expect(model.send("g", small, 4)).toBe(0);
  });

  it("suspends a replica that is nearly full while requests run late", () => {
    const model = new Model([1000]);
    model.send("a", { input: 10, seconds: 2 });
    model.slots.kvUse[0] = fresh(0.96);
    expect(model.send("b", { input: 10, seconds: 9 }, 1)).toBe(0);
    expect(model.send("c", { input: 10, seconds: 9 }, 3)).toBe(-1);
    model.end("a", 0);
    model.slots.kvUse[0] = fresh(0.4);
    expect(model.send("c", { input: 10, seconds: 9 }, 4)).toBe(0);
  });

  it("takes a replica of unknown capacity for one with room, and says so", () => {
    const model = new Model([1000, null]);
    expect([model.send("a", { input: 900, seconds: 9 }), model.send("b", { input: 5000, seconds: 9 })]).toEqual([0, 1]);
    expect(model.send("c", { input: 5000, seconds: 9 })).toBe(1);
    expect(model.place.degraded?.(model.slots)).toBe("no-kv-capacity");
    model.slots.capacity[1] = 0;
    expect(model.place.degraded?.(model.slots)).toBeNull();
  });

  it("says where neither reading of a replica is fresh, and lifts what was suspended by them", () => {
    const model = new Model([1000]);
    model.send("a", { input: 10, seconds: 100 });
    model.slots.preemptions[0] = fresh(1);
    expect(model.send("b", { input: 10, seconds: 1 }, 1)).toBe(-1);
    model.slots.preemptions[0] = absent;
    expect(model.place.degraded?.(model.slots)).toBeNull();
    model.slots.kvUse[0] = { state: "stale", value: 1, ageSeconds: 5 };
    expect(model.place.degraded?.(model.slots)).toBe("no-fresh-telemetry");
    expect(model.send("b", { input: 10, seconds: 1 }, 2)).toBe(0);
  });

  it("keeps what is planned when replicas come and others go, and forgets what went", () => {
    const place = timeSlotsPlace();
    const before = new Model([1000, 1000], { place, ids: ["stays", "goes"] });
    before.send("a", { input: 900, seconds: 60 });
    before.send("b", { input: 900, seconds: 60 });
    const after = new Model([1000, 1000], { place, ids: ["new", "stays"] });
    after.slots.inFlight[1] = 1;
    expect(after.memory().map(({ slotTokens }) => slotTokens[0] ?? 0)).toEqual([0, 900]);
    expect([after.send("c", { input: 900, seconds: 60 }), after.send("d", { input: 900, seconds: 60 })]).toEqual([0, -1]);
    const back = new Model([1000], { place, ids: ["goes"] });
    expect(back.memory()[0]?.requests).toEqual([]);
    const changed = new Model([1000], { place, ids: ["stays"], model: "another" });
    changed.slots.inFlight[0] = 1;
    expect(changed.memory()[0]?.requests).toEqual([]);
  });

  it("drops what it plans beyond what its driver has in flight", () => {
    const model = new Model([1000]);
    model.send("a", { input: 500, seconds: 60 });
    model.send("b", { input: 400, seconds: 60 });
    model.slots.inFlight[0] = 1;
    expect(model.send("c", { input: 600, seconds: 60 })).toBe(0);
    expect(model.memory()[0]?.requests.map(({ workId }) => workId)).toEqual(["b", "c"]);
  });

  it("may be asked again at the next slot", () => {
    const { askAgainSeconds } = timeSlotsPlace();
    expect([0, 0.3, 0.5, 1234.75].map((nowSeconds) => askAgainSeconds?.(nowSeconds))).toEqual([0.5, 0.5, 1, 1235]);
  });

  it("says what it expects without changing it", () => {
    const model = new Model([1000, null]);
    model.send("a", { input: 100, seconds: 1, perSecond: 20 });
    model.send("b", { input: 30 });
    const plan = model.place.memoryPlan?.();
    expect(plan?.replicas(model.slots, 0.5)).toEqual([
      {
        replicaId: "r0",
        model: "m",
        capacityTokens: 1000,
        inFlight: 1,
        seats: 8,
        slotTokens: [120],
        suspended: null,
        requests: [{ workId: "a", agent: "app/a", untilSeconds: 1 }],
      },
      {
        replicaId: "r1",
        model: "m",
        capacityTokens: null,
        inFlight: 1,
        seats: 8,
        slotTokens: [30],
        suspended: null,
        requests: [{ workId: "b", agent: null, untilSeconds: null }],
      },
    ]);
    expect(plan?.choose(model.slots, workOf("c", { input: 950, seconds: 1 }), 0.5)).toBe(1);
    expect(plan?.peakTokens(model.slots, 1)).toBe(980);
    expect(model.memory()[1]?.slotTokens).toEqual([30]);
  });

  it("sends nothing to a replica that has some whose slots would then hold more than its cache, by adding up all that is there anew", () => {
    const anyArrival = fc.record({
      seconds: fc.double({ min: 0, max: 3, noNaN: true }),
      inputTokens: fc.integer({ min: 1, max: 1200 }),
      forecast: fc.option(anyForecast, { nil: undefined }),
      ends: fc.option(fc.nat(30)),
    });
    fc.assert(
      fc.property(fc.array(anyArrival, { minLength: 1, maxLength: 60 }), (arrivals) => {
        const model = new Model([1500, 2500]);
        const there: { readonly work: WaitingWork; readonly fromSeconds: number; readonly index: number }[] = [];
        let nowSeconds = 0;
        for (const [at, { seconds, ends, inputTokens, forecast }] of arrivals.entries()) {
          nowSeconds += seconds;
          if (ends !== null && there.length > 0) {
            const [gone] = there.splice(ends % there.length, 1);
            model.end(gone!.work.id, gone!.index);
          }
          const work: WaitingWork = { ...workOf(`w${at}`, { input: inputTokens }), ...(forecast && { forecast }) };
          const chosen = model.place.choose(model.slots, work, nowSeconds);
          const peaks = [0, 1].map((index) =>
            peakOf([...there.filter((one) => one.index === index), { work, fromSeconds: nowSeconds }], nowSeconds),
          );
          const fits = [0, 1].filter((index) => {
            const inFlight = model.slots.inFlight[index]!;
            return inFlight < 8 && (inFlight === 0 || peaks[index]! <= model.slots.kvTokens[index]!);
          });
          const lowest = Math.min(...fits.map((index) => peaks[index]!));
          expect(chosen).toBe(fits.find((index) => peaks[index] === lowest) ?? -1);
          if (chosen < 0) continue;
          model.slots.inFlight[chosen]! += 1;
          there.push({ work, fromSeconds: nowSeconds, index: chosen });
        }
      }),
    );
  });
});

/** Maximum that requests hold in any slot from now on. */
function peakOf(requests: readonly { readonly work: WaitingWork; readonly fromSeconds: number }[], nowSeconds: number): number {
  const first = Math.floor(nowSeconds / SLOT_SECONDS);
  let peak = 0;
  for (let slot = first; slot < first + 512; slot += 1) {
    let sum = 0;
    for (const { work, fromSeconds } of requests) {
      const { requestSeconds = 0, tokensPerSecond = 0 } = work.forecast ?? {};
      const untilSeconds = fromSeconds + requestSeconds;
      if (requestSeconds === 0) sum += work.inputTokens;
      else if (slot * SLOT_SECONDS < untilSeconds && slot < Math.floor(fromSeconds / SLOT_SECONDS) + 512) {
        sum += Math.ceil(work.inputTokens + tokensPerSecond * (Math.min((slot + 1) * SLOT_SECONDS, untilSeconds) - fromSeconds));
      }
    }
    peak = Math.max(peak, sum);
  }
  return peak;
}
