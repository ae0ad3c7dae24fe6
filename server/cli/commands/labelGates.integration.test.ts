import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { confidence, gated } from "@/server/gateway/testing/testGatedCascade";
import { sayScored } from "@/server/gateway/testing/testGates";
import { hashed } from "@/server/gateway/testing/testGateway";
import { readPlan } from "@/server/planning/planner/readPlan";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { openStore } from "@/server/store/store";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { createProgram } from "../program";
import { refusalIn } from "../testing/refusalIn";

const SERVED = 40;

let folder: string;
let said: { out: string; err: string };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-label-gates-"));
  said = { out: "", err: "" };
  vi.stubEnv("WEIR_STATE_DIR", join(folder, "state"));
  const hear = (stream: "out" | "err") => (text: unknown) => {
    said[stream] += String(text);
    return true;
  };
  vi.spyOn(process.stdout, "write").mockImplementation(hear("out"));
  vi.spyOn(process.stderr, "write").mockImplementation(hear("err"));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

async function weir(...args: readonly string[]) {
  said = { out: "", err: "" };
  await createProgram(() => undefined).parseAsync(args, { from: "user" });
  return said;
}

/** A gateway that serves a plan of the store; every answer of its small model has a smallest token probability of 0.9. */
async function serving() {
  const gateway = await gated(confidence, { small: (asked, response) => sayScored(asked, response, [["4", 0.9]]) });
  vi.stubEnv("WEIR_GATEWAY_ADMIN_URL", gateway.adminUrl);
  const draft = examplePlanDraft();
  const plan = sealPlan({ ...draft, policy: gateway.config.policy } as typeof draft, new Date(0));
  const store = openStore(join(folder, "state"));
  store.plans.keep(plan);
  store.clusters.insert(plan.inputs.cluster, new Date(0).toISOString());
  store.clusters.setRunning("c", { planId: plan.id, since: new Date(0).toISOString() });
  store.close();
  await gateway.put({ ...gateway.config, ...hashed(plan.policy), planId: plan.id });
  const ids: string[] = [];
  for (let at = 0; at < SERVED; at += 1) {
    const answer = await gateway.chat({});
    await answer.text();
    ids.push(answer.headers.get("x-weir-decision-id") ?? "");
  }
  const file = join(folder, "labels.csv");
  const write = (labelled: readonly string[]) =>
    writeFileSync(file, ["decision_id,quality", ...labelled.map((id, at) => `${id},${at % 2 === 0 ? 100 : 0}`)].join("\n"));
  return { gateway, plan, ids, file, write };
}

it("labels of a file recalibrate the gate in force, and the plan with it is written", async () => {
  const { plan, ids, file, write } = await serving();
  write(ids.slice(0, 10));
  expect((await weir("gates", "label", file, "--cluster", "c")).err).toBe("10 labels are kept.\n");
  expect((await weir("gates", "recalibrate", "--cluster", "c")).out).toMatch(
    /1 small: smallest token probability +10 +5 +5 +0 +- +- +- +-\n/,
  );
  const path = join(folder, "plan.json");
  const few = await refusalIn(folder)("gates", "recalibrate", "--cluster", "c", "--write", path);
  expect(few).toEqual({ code: 2, stderr: expect.stringMatching(/^No gate in force has 40 new labels yet/) });

  write(ids);
  await weir("gates", "label", file, "--cluster", "c");
  const { out } = await weir("gates", "recalibrate", "--cluster", "c", "--json", "--write", path);
  expect(JSON.parse(out)).toMatchObject({ planId: plan.id, gates: [{ labels: 40, fitted: { accepted: { before: 1, after: 0 } } }] });
  const read = readPlan(JSON.parse(readFileSync(path, "utf8")));
  if (!read.ok) throw new Error(read.message);
  const { gates } = read.plan.policy as Extract<PolicyDocument, { kind: "cascade" }>;
  expect(gates).toEqual([{ ...confidence, calibration: expect.any(Object) }]);
  expect(read.plan).toMatchObject({ metadata: { name: "example, recalibrated" }, deployment: plan.deployment });
});

it("leaves out labels that cannot count, says so with their lines, and keeps the others of the file", async () => {
  const { ids, file, write } = await serving();
  write([...ids.slice(0, 2), "gone", ...ids.slice(2, 3), "older"]);
  expect((await weir("gates", "label", file, "--cluster", "c")).err).toMatch(
    /^3 labels are kept\. 2 of 5 labels cannot count and are left out: 2 because .* \(line 4: gone, line 6: older\)\.\n$/,
  );
  expect((await weir("gates", "recalibrate", "--cluster", "c")).out).toMatch(/smallest token probability +3 /);
  const store = openStore(join(folder, "state"));
  const [line] = store.audit.list(1);
  store.close();
  expect(line).toMatchObject({ actor: "command line", action: "label served answers", detail: "3 of small (confidence), 2 left out" });
});

it("refuses a file without a label that can count, and one for a cluster that is not there", async () => {
  const { ids, file, write } = await serving();
  write(["gone", "older"]);
  const refused = await refusalIn(folder)("gates", "label", file, "--cluster", "c");
  expect(refused).toEqual({ code: 2, stderr: expect.stringMatching(/^None of the 2 labels can count: 2 because the gateway, which/) });
  expect((await weir("gates", "recalibrate", "--cluster", "c")).out).toMatch(/smallest token probability +0 /);
  write(ids.slice(0, 1));
  expect(await refusalIn(folder)("gates", "label", file)).toEqual({ code: 2, stderr: "There is no cluster embedded." });
});
