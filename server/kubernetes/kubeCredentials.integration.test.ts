import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needs } from "@/scripts/needs.mjs";
import { hostTools } from "./testing/testHost";
import { standInKubernetes, startTestKubernetes, type TestKubernetes } from "./testing/testKubernetes";

describe("a kubeconfig's credential plugin", needs(standInKubernetes), () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-plugin-"));
  const runsPath = join(folder, "runs");
  const runs = (): readonly string[] => (existsSync(runsPath) ? readFileSync(runsPath, "utf8").trim().split("\n") : []);
  let kubernetes: TestKubernetes;
  beforeAll(async () => {
    kubernetes = await startTestKubernetes();
  }, 60_000);
  afterAll(async () => {
    await kubernetes.stop();
    rmSync(folder, { recursive: true });
  }, 60_000);

  const { host, sentence } = hostTools(() => kubernetes);

  /** A host whose kubeconfig runs a script for a token; the script's runs are counted under its process id. */
  function hostWith(script: string) {
    rmSync(runsPath, { force: true });
    const path = join(folder, "kubeconfig");
    const config = JSON.parse(kubernetes.kubeconfig) as { users: { user: unknown }[] };
    const args = ["-c", `echo $$ >> ${runsPath}; ${script}`];
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "sh", args, interactiveMode: "Never" };
    for (const one of config.users) one.user = { exec };
    writeFileSync(path, JSON.stringify(config));
    return { path, host: host({ access: { from: "kubeconfig", path } }) };
  }

  it("that does not answer is said within the time of a look, runs once for all of them, and breaks off with who asked", async () => {
    const { path, host: waiting } = hostWith("exec sleep 600");
    const began = Date.now();
    const look = () => waiting.observe({ limitMs: 1_000 });
    for (const answer of [await look(), await look()])
      expect(sentence(answer)).toBe(`The kubeconfig ${path}'s own way to credentials did not answer within 1 s.`);
    expect(Date.now() - began).toBeLessThan(10_000);
    await expect(waiting.observe({ signal: AbortSignal.timeout(100) })).rejects.toThrow();
    await expect.poll(() => runs().length, { timeout: 10_000 }).toBeGreaterThan(0);
    const started = runs();
    for (const pid of started) process.kill(Number(pid), "SIGKILL");
    expect(started).toHaveLength(1);
  }, 30_000);

  it("whose token has no end runs again only when the token is not taken any more", async () => {
    const tokenPath = join(folder, "token");
    const tokens = kubernetes.standIn?.tokens;
    const credential = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: { token: "TOKEN" } };
    writeFileSync(tokenPath, "first");
    tokens?.add("first");
    const { host: one } = hostWith(`echo '${JSON.stringify(credential)}' | sed "s/TOKEN/$(cat ${tokenPath})/"`);
    const look = async () => (await one.observe({})).ok;
    expect([await look(), await look(), runs().length]).toEqual([true, true, 1]);
    tokens?.delete("first");
    tokens?.add("second");
    writeFileSync(tokenPath, "second");
    expect([await look(), await look(), runs().length]).toEqual([true, true, 2]);
  }, 30_000);

  it("that failed is tried again at the next look", async () => {
    const { host: one } = hostWith("exit 1");
    expect(sentence(await one.observe({}))).toMatch(/^No credentials could be had for .*: the kubeconfig's own way to them failed\.$/);
    await one.observe({});
    expect(runs().length).toBeGreaterThan(1);
  }, 30_000);
});
