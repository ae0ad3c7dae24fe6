import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { needs, program } from "@/scripts/needs.mjs";

const rulesFile = "public/prometheus/weir.rules.yml";
const testFiles = ["server/series/testing/weirRules.test.yml", "server/series/testing/weirBurnRules.test.yml"];

const ruleSchema = z.object({
  alert: z.string().optional(),
  expr: z.string(),
  labels: z.object({ severity: z.enum(["page", "ticket"]), window: z.string().optional() }).optional(),
  annotations: z.object({ summary: z.string(), runbook: z.string() }).optional(),
});
const { groups } = z.object({ groups: z.array(z.object({ rules: z.array(ruleSchema) })) }).parse(parse(readFileSync(rulesFile, "utf8")));
const alerts = groups.flatMap(({ rules }) => rules).filter(({ alert }) => alert !== undefined);

const expectedSchema = z.object({ exp_labels: z.object({ severity: z.string(), window: z.string().optional() }) });
const checkSchema = z.object({ alertname: z.string(), exp_alerts: z.array(expectedSchema) });
const testsSchema = z.object({ tests: z.array(z.object({ name: z.string(), alert_rule_test: z.array(checkSchema) })) });
const tests = testFiles.flatMap((path) => testsSchema.parse(parse(readFileSync(path, "utf8"))).tests);
const checks = tests.flatMap((world) => world.alert_rule_test);

/** What promtool prints; rejects where it finds fault. */
const promtool = async (...args: readonly string[]): Promise<string> => (await promisify(execFile)("promtool", args)).stdout;

describe("the alerting rules", () => {
  it("have a severity, a summary and what to do", () => {
    for (const { alert, labels, annotations } of alerts) expect([alert, labels, annotations]).not.toContain(undefined);
  });

  it("are each seen to fire in every severity and window, and to be silent in a healthy world", () => {
    const key = (name: string | undefined, labels: { severity: string; window?: string | undefined } | undefined) =>
      [name, labels?.severity, labels?.window ?? ""].join(" ");
    const fired = checks.flatMap(({ alertname, exp_alerts: expected }) => expected.map((one) => key(alertname, one.exp_labels)));
    expect(alerts.map(({ alert, labels }) => key(alert, labels)).filter((one) => !fired.includes(one))).toEqual([]);
    const healthy = tests.find(({ name }) => name.startsWith("a healthy gateway"))?.alert_rule_test ?? [];
    const silent = healthy.filter((one) => one.exp_alerts.length === 0).map(({ alertname }) => alertname);
    expect(new Set(silent)).toEqual(new Set(alerts.map(({ alert }) => alert)));
  });

  it("pass promtool's check", needs(program("promtool")), async () => {
    expect(await promtool("check", "rules", rulesFile)).toContain("SUCCESS");
  });

  it("fire as their tests say, by promtool", needs(program("promtool")), async () => {
    expect((await promtool("test", "rules", ...testFiles)).match(/SUCCESS/g)).toHaveLength(testFiles.length);
  });
});
