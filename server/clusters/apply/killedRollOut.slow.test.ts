import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JournalLine } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { planOnGpus } from "../testing/testCluster";
import { rollOutStudio } from "../testing/testRollOutStudio";
import { type ClusterOfPlans, clusterOfPlans } from "../testing/testWholePlans";

/** Clusters in parallel: an engine takes a second to load, whatever the time scale. */
const LANES = 3;

/** At least the boundaries of five steps: three lines of the journal each, and the calls between them. */
const FEWEST = 20;

const old = planOnGpus("old", { "qwen2.5-3b": [0] });
const next = planOnGpus("new", { "qwen2.5-7b": [0] });
const beside = planOnGpus("beside", { "qwen2.5-7b": [1] });

let studio: Awaited<ReturnType<typeof rollOutStudio>>;
let lanes: readonly ClusterOfPlans[];
beforeAll(async () => {
  studio = await rollOutStudio();
  lanes = await Promise.all(Array.from({ length: LANES }, () => clusterOfPlans([old, next, beside], { gpus: 2, timeScale: 500 })));
}, 60_000);
afterAll(async () => {
  studio.clear();
  await Promise.all(lanes.map((cluster) => cluster.stop()));
});

/** Kills studios at one boundary after the other, in parallel, until one survives; returns the number of kills. */
async function walk(plans: readonly [Plan, Plan], oneKill: (lane: Lane) => Promise<"died" | "lived">): Promise<number> {
  let boundary = 1;
  let died = 0;
  let lived = false;
  await Promise.all(
    lanes.map(async (cluster) => {
      let [inForce, other] = plans;
      const running = () => cluster.store.clusters.get("embedded")?.runningPlanId;
      if (running() !== inForce.id) await cluster.apply(inForce);
      while (!lived) {
        const dieAfter = boundary;
        boundary += 1;
        if ((await oneKill({ cluster, inForce, other, dieAfter })) === "lived") lived = true;
        else died += 1;
        if (running() === other.id) [inForce, other] = [other, inForce];
      }
    }),
  );
  return died;
}

interface Lane {
  readonly cluster: ClusterOfPlans;
  readonly inForce: Plan;
  readonly other: Plan;
  readonly dieAfter: number;
}

/** Resumes what a killed studio left, if anything, and returns how it ended. */
async function resumeAll({ store, newRunner, ended }: ClusterOfPlans) {
  const [latest] = store.applications.list("embedded");
  if (latest === undefined) throw new Error("Nothing was applied.");
  const wasOpen = latest.endedAt === null;
  const runner = newRunner();
  runner.resumeAll();
  const application = await ended(latest.id);
  await runner.close();
  const journal = store.journal.of(latest.id);
  const tells = journal.filter(({ detail }) => detail === "The studio restarted and continues this.").length;
  const audited = store.audit.list(10).some(({ action, detail }) => action === "resume" && detail.includes(latest.id));
  expect({ tells, audited }).toEqual(wasOpen ? { tells: 1, audited: true } : { tells: 0, audited: false });
  expectOrder(journal);
  for (const { id, state } of application.steps) if (state === "done") expect(eventsOf(journal, id).at(-1)).toBe("verified");
  return application;
}

const eventsOf = (journal: readonly JournalLine[], id: string) =>
  journal.filter(({ stepId, event }) => stepId === id && event !== "said").map(({ event }) => event);

/** In a journal, every step is intended before it is done, and done before it is verified or aborted. */
function expectOrder(journal: readonly JournalLine[]): void {
  for (const id of new Set(journal.flatMap(({ stepId }) => stepId ?? [])))
    expect(eventsOf(journal, id).join(" ")).toMatch(/^intended( done)?( verified| cut)?$/);
}

describe("a studio that is killed", () => {
  it.each([
    { where: "an engine is drained to make room", other: next },
    { where: "the new engine comes up first", other: beside },
  ])(
    "leaves what its successor brings to the new plan, whole, wherever that was, where $where",
    async ({ other: plan }) => {
      const died = await walk([old, plan], async ({ cluster, other, dieAfter }) => {
        const child = studio.run(cluster, { planId: other.id, dieAfter });
        const [code] = await once(child, "exit");
        const application = await resumeAll(cluster);
        expect(application.error).toBeNull();
        expect(application.state).toBe("done");
        await cluster.expectWhole(other);
        return code === 0 ? "lived" : "died";
      });
      expect(died).toBeGreaterThan(FEWEST);
    },
    200_000,
  );

  it("while it undoes a roll-out leaves what its successor brings back to the old plan, whole, wherever that was", async () => {
    const died = await walk([old, next], async ({ cluster, inForce, other, dieAfter }) => {
      const child = studio.run(cluster, { planId: other.id, abortAfter: 2, dieAfter });
      const [code] = await once(child, "exit");
      const application = await resumeAll(cluster);
      expect(application.error).toBeNull();
      expect(application.state).toBe("rolled-back");
      await cluster.expectWhole(inForce);
      return code === 0 ? "lived" : "died";
    });
    expect(died).toBeGreaterThan(10);
  }, 200_000);
});
