import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { gatewayAuditPageSchema } from "@/server/contracts/gateway/gatewayControls";
import { heldEngine } from "../testing/testEngine";
import { startTestGateway, temporaryDirectory, until } from "../testing/testGateway";
import { call, forget, learntGateway, programsOf, served, workflowsOf } from "../testing/testWorkflows";

interface KeptFile {
  atMs: number;
  readonly learnt: { readonly counts: { readonly programs: number } };
}

const pathIn = (stateDirectory: string): string => join(stateDirectory, "workflows.json");

async function keptIn(stateDirectory: string): Promise<KeptFile | null> {
  return JSON.parse(await readFile(pathIn(stateDirectory), "utf8").catch(() => "null")) as KeptFile | null;
}

describe("what is kept of workflows", () => {
  it("has what was learnt since it was last written, at a stop", async () => {
    const { gateway } = await learntGateway();
    const { stateDirectory } = gateway;
    await until(async () => (await keptIn(stateDirectory))?.learnt.counts.programs === 2);
    await call(gateway, { "x-weir-agent": "planner" });
    expect(await programsOf(gateway)).toBe(3);
    await gateway.close();
    expect((await keptIn(stateDirectory))?.learnt.counts.programs).toBe(3);
  });

  it("is older by as long as the gateway was away", async () => {
    const { gateway } = await learntGateway();
    const { stateDirectory } = gateway;
    await gateway.close();
    const kept = await keptIn(stateDirectory);
    await writeFile(pathIn(stateDirectory), JSON.stringify({ ...kept, atMs: (kept?.atMs ?? 0) - 3_600_000 }));
    const { learnt } = await workflowsOf(await startTestGateway({}, { stateDirectory }));
    expect(learnt.asOfSeconds - (learnt.applications[0]?.lastSeenSeconds ?? Number.NaN)).toBeGreaterThan(360_000);
  });

  it("is forgotten at once where the disk does not go along, which the answer and the audit tell, and on disk later", async () => {
    const { gateway } = await learntGateway();
    const { stateDirectory } = gateway;
    await until(async () => (await keptIn(stateDirectory))?.learnt.counts.programs === 2);
    const obstacle = `${pathIn(stateDirectory)}.new`;
    await mkdir(obstacle);
    const answer = await forget(gateway);
    expect([answer.status, await answer.json()]).toMatchObject([500, { error: { code: "not_kept" } }]);
    expect(await programsOf(gateway)).toBe(0);
    const { lines } = gatewayAuditPageSchema.parse(await (await fetch(`${gateway.adminUrl}/audit`)).json());
    expect(lines.at(-1)).toMatchObject({
      action: "workflows forgotten",
      detail: "What 2 programs taught about workflows is deleted, but not on disk yet: another team moves in",
    });
    expect((await keptIn(stateDirectory))?.learnt.counts.programs).toBe(2);
    await rm(obstacle, { recursive: true });
    await gateway.close();
    expect((await keptIn(stateDirectory))?.learnt.counts.programs).toBe(0);
  });

  it("is forgotten with the file that an earlier start could not use", async () => {
    const stateDirectory = await temporaryDirectory();
    await writeFile(pathIn(stateDirectory), "{half a li");
    const { gateway } = await learntGateway(stateDirectory);
    const files = async () => (await readdir(stateDirectory)).filter((name) => name.startsWith("workflows."));
    expect(await files()).toContain("workflows.json.unusable");
    expect((await forget(gateway)).status).toBe(200);
    expect(await files()).toEqual(["workflows.json"]);
  });

  it("goes on over a slower clock while calls are under way: programs still end", async () => {
    const held = await heldEngine();
    const gateway = await startTestGateway();
    await gateway.put({ ...served(held), timeScale: 10_000 });
    const underWay = call(gateway, { "x-session-id": "before", "x-weir-agent": "planner" });
    await until(() => held.asked.length === 1);
    await gateway.put(served(held));
    held.open();
    await underWay;
    await call(gateway, { "x-session-id": "after", "x-weir-agent": "coder" });
    await until(async () => (await programsOf(gateway)) === 1);
    const { learnt } = await workflowsOf(gateway);
    expect(learnt.counts).toMatchObject({ calls: 1, openPrograms: 0 });
    expect(learnt.applications.map(({ name }) => name)).toEqual(["coder"]);
  });

  it("has nothing of calls that were under way when it was forgotten", async () => {
    const held = await heldEngine();
    const gateway = await startTestGateway();
    await gateway.put(served(held));
    const underWay = call(gateway, { "x-weir-agent": "planner" });
    await until(() => held.asked.length === 1);
    expect((await forget(gateway)).status).toBe(200);
    held.open();
    await underWay;
    await call(gateway, { "x-weir-agent": "coder" });
    expect((await workflowsOf(gateway)).learnt.agents.map(({ key }) => key)).toEqual(["coder/coder"]);
  });
});
