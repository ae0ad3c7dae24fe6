import { describe, expect, it } from "vitest";
import type { ReplicaView, WaitingWork } from "./core/policy";
import type { Place, Preference, Slots } from "./core/policyParts";
import { jointPolicy } from "./jointPolicy";
import { fixedRoute } from "./routes/fixedRoute";
import { MOST_PASSES } from "./waiting/heldWork";

const queued = (id: string, inputTokens: number, stage = 0): WaitingWork => ({
  id,
  programId: id,
  stage,
  programArrivalSeconds: 0,
  queuedSinceSeconds: 0,
  inputTokens,
  state: { kind: "queued" },
});

const replica = (model: string): ReplicaView => ({
  id: model,
  model,
  inFlight: 0,
  maxInFlight: 9,
  accepting: true,
  kvUse: { state: "absent" },
});

/** Holds back requests with more than ten tokens. */
const picky: Place = {
  kind: "picky",
  needs: [],
  choose: (_slots, { inputTokens }) => (inputTokens > 10 ? -1 : 0),
  askAgainSeconds: (nowSeconds) => nowSeconds + 3,
};

/** The first replica with room; -1: none. */
const roomAt = ({ inFlight, capacity }: Slots): number => inFlight.findIndex((held, at) => held < (capacity[at] ?? 0));

const route = (...models: string[]) => ({ ...fixedRoute({ model: "" }), models });
const shortest: Preference = { key: ({ inputTokens }) => inputTokens, agingThreshold: 2 };

function policyOf(preference?: Preference, place = picky) {
  const policy = jointPolicy({ route: route("m", "n"), order: { kind: "any", needs: [], ...(preference && { preference }) }, place });
  const replicas = [replica("m"), replica("n")];
  const sent = (waiting: readonly WaitingWork[], nowSeconds = 1) =>
    policy.decide({ nowSeconds, waiting, replicas }).map(({ workId }) => workId);
  return { policy, sent };
}

describe("a policy whose place holds work back", () => {
  it("lets later work go before it so often, then keeps a replica for it, which nothing else gets, until it goes or leaves", () => {
    for (const leaves of [false, true]) {
      let fits = false;
      const place: Place = { ...picky, choose: (slots, { inputTokens }) => (inputTokens > 10 && !fits ? -1 : roomAt(slots)) };
      const { policy, sent } = policyOf(undefined, place);
      const large = queued("large", 99);
      for (let pass = 0; pass < MOST_PASSES; pass += 1) expect(sent([large, queued(`${pass}`, 1)], pass)).toEqual([`${pass}`]);
      expect([...(policy.due?.() ?? [])]).toEqual(["large"]);
      for (let more = 0; more < 5; more += 1) expect(sent([large, queued("more", 1)], 50 + more)).toEqual([]);
      expect(policy.askAgainSeconds?.()).not.toBeNull();
      if (leaves) policy.observe({ kind: "left", workId: "large", nowSeconds: 60 });
      fits = !leaves;
      expect(sent([...(leaves ? [] : [large]), queued("more", 1)], 99)).toEqual(leaves ? ["more"] : ["large", "more"]);
      expect([...(policy.due?.() ?? [])]).toEqual([]);
    }
  });

  it("lets what fits go before it, and asks again", () => {
    const { policy, sent } = policyOf();
    expect(sent([queued("a", 1), queued("large", 99), queued("b", 1), queued("other model's", 1, 1)])).toEqual(["a", "b", "other model's"]);
    expect(policy.askAgainSeconds?.()).toBe(4);
    expect(sent([queued("a", 1)], 2)).toEqual(["a"]);
    expect(policy.askAgainSeconds?.()).toBeNull();
  });

  it("does not count what it held back as released, so that nothing ages by it", () => {
    const { sent } = policyOf({ ...shortest, key: ({ id }) => (id === "a" ? 1 : 0) });
    const waiting = [queued("large", 99)];
    for (let nowSeconds = 1; nowSeconds < 9; nowSeconds += 1) expect(sent(waiting, nowSeconds)).toEqual([]);
    expect(sent([queued("a", 5), queued("first", 3)], 9)).toEqual(["first", "a"]);
  });

  it("lets the oldest go before what is held once enough releases have passed over it", () => {
    const { sent } = policyOf({ ...shortest, key: ({ id }) => (id === "oldest" ? 9 : 0) });
    expect(sent([queued("oldest", 1), queued("a", 1), queued("b", 1), queued("large", 99)])).toEqual(["a", "b", "oldest"]);
  });

  it("is refused a place that finds no room where there is some and does not say when to ask again", () => {
    const { askAgainSeconds: _, ...silent } = picky;
    expect(() => policyOf(undefined, silent).sent([queued("large", 99)])).toThrow("picky found no replica of m");
    expect(policyOf(undefined, silent).policy.askAgainSeconds).toBeUndefined();
  });

  it("orders what is equal by the second key, then by the list", () => {
    const { policy, sent } = policyOf({ key: () => 0, thenBy: ({ inputTokens }) => inputTokens, agingThreshold: 99 });
    expect(sent([queued("c", 3), queued("b", 2), queued("c too", 3), queued("a", 1)])).toEqual(["a", "b", "c", "c too"]);
    expect(policy.thenBy?.(queued("c", 3))).toBe(3);
  });
});
