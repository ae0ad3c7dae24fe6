import { expect, it } from "vitest";
import { deprecatedMetrics } from "@/server/contracts/deprecatedNames";
import { MetricRegistry } from "./metricRegistry";

it("exposes a metric whose name changed under both names, with the same values", async () => {
  const registry = new MetricRegistry();
  const counter = registry.counter("weir_gateway_aborted_total", "Aborted.", ["reason"]);
  registry.gauge("weir_gateway_judge_circuit_open", "Open.", ["model"], (gauge) => gauge.set({ model: "judge" }, 1));
  counter.inc({ reason: "deadline" }, 3);
  const lines = (await registry.exposition()).text.split("\n");
  for (const name of ["weir_gateway_aborted_total", deprecatedMetrics.weir_gateway_aborted_total])
    expect(lines).toContain(`${name}{reason="deadline"} 3`);
  for (const name of ["weir_gateway_judge_circuit_open", deprecatedMetrics.weir_gateway_judge_circuit_open])
    expect(lines).toContain(`${name}{model="judge"} 1`);
});
