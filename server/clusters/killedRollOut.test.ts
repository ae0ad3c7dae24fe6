import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JournalLine } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { planOnGpus } from "./testCluster";
import { rollOutStudio } from "./testRollOutStudio";
import { type ClusterOfPlans, clusterOfPlans } from "./testWholePlans";

/** Clusters side by side: an engine takes a second to load, whatever the time scale. */
const LANES = 3;

/** As many boundaries at least as five steps have: three lines of the journal each, and the calls between them. */
const FEWEST = 20;

let studio: Awaited<ReturnType<typeof rollOutStudio>>;
beforeAll(async () => {
  studio = await rollOutStudio();
});
afterAll(() => studio.clear());

/** Kills studios at one boundary after the other, side by side, until one lives; tells how many died. */
async function walk(plans: readonly [Plan, Plan], oneKill: (lane: Lane) => Promise<"died" | "lived">): Promise<number> {
  const lanes = await Promise.all(Array.from({ length: LANES }, () => clusterOfPlans(plans, { gpus: 2, timeScale: 500 })));
  let next = 1;
  let died = 0;
  let lived = false;
  try {
    await Promise.all(
      lanes.map(async (cluster) => {
        let [inForce, other] = plans;
        while (!lived) {
          const dieAfter = next;
          next += 1;
          const outcome = await oneKill({ cluster, inForce, other, dieAfter });
          if (outcome === "lived") lived = true;
          else died += 1;
          const now = cluster.store.clusters.get("embedded")?.runningPlanId;
          if (now === other.id) [inForce, other] = [other, inForce];
        }
      }),
    );
  } finally {
    await Promise.all(lanes.map((cluster) => cluster.stop()));
  }
  return died;
}

interface Lane {
  readonly cluster: ClusterOfPlans;
  readonly inForce: Plan;
  readonly other: Plan;
  readonly dieAfter: number;
}

/** Takes up what a killed studio left, if it left anything, and tells how it ended. */
async function takeUp({ store, newRunner, ended }: ClusterOfPlans) {
  const [latest] = store.applications.list("embedded");
  if (latest === undefined) throw new Error("Nothing was applied.");
  const wasOpen = latest.endedAt === null;
  const runner = newRunner();
  runner.takeUp();
  const application = await ended(latest.id);
  await runner.close();
  const journal = store.journal.of(latest.id);
  const tells = journal.filter(({ detail }) => detail === "The studio was started anew and took this up.").length;
  const audited = store.audit.list(10).some(({ action, detail }) => action === "take up" && detail.includes(latest.id));
  expect({ tells, audited }).toEqual(wasOpen ? { tells: 1, audited: true } : { tells: 0, audited: false });
  expectOrder(journal);
  for (const { id, state } of application.steps) if (state === "done") expect(eventsOf(journal, id).at(-1)).toBe("verified");
  return application;
}

const eventsOf = (journal: readonly JournalLine[], id: string) =>
  journal.filter(({ stepId, event }) => stepId === id && event !== "said").map(({ event }) => event);

/** Every step of a journal was intended before it was done, and done before it was verified or cut off. */
function expectOrder(journal: readonly JournalLine[]): void {
  for (const id of new Set(journal.flatMap(({ stepId }) => stepId ?? [])))
    expect(eventsOf(journal, id).join(" ")).toMatch(/^intended( done)?( verified| cut)?$/);
}

describe.each([
  {
    order: "an engine is drained to make room",
    plans: [planOnGpus("old", { "qwen2.5-3b": [0] }), planOnGpus("new", { "qwen2.5-7b": [0] })],
  },
  { order: "the new engine comes up first", plans: [planOnGpus("old", { "qwen2.5-3b": [0] }), planOnGpus("new", { "qwen2.5-7b": [1] })] },
] as const)("a studio that is killed where $order", ({ plans }) => {
  it("leaves what its successor brings to the new plan, whole, wherever it was killed", async () => {
    const died = await walk(plans, async ({ cluster, other, dieAfter }) => {
      const child = studio.run(cluster, { planId: other.id, dieAfter });
      const [code] = await once(child, "exit");
      const application = await takeUp(cluster);
      expect(application.error).toBeNull();
      expect(application.state).toBe("done");
      await cluster.expectWhole(other);
      return code === 0 ? "lived" : "died";
    });
    expect(died).toBeGreaterThan(FEWEST);
  }, 120_000);
});

describe("a studio that is killed while it undoes a roll-out", () => {
  const plans = [planOnGpus("old", { "qwen2.5-3b": [0] }), planOnGpus("new", { "qwen2.5-7b": [0] })] as const;

  it("leaves what its successor brings back to the old plan, whole, wherever it was killed", async () => {
    const died = await walk(plans, async ({ cluster, inForce, other, dieAfter }) => {
      const child = studio.run(cluster, { planId: other.id, abortAfter: 2, dieAfter });
      const [code] = await once(child, "exit");
      const application = await takeUp(cluster);
      expect(application.error).toBeNull();
      expect(application.state).toBe("rolled-back");
      await cluster.expectWhole(inForce);
      return code === 0 ? "lived" : "died";
    });
    expect(died).toBeGreaterThan(10);
  }, 120_000);
});
