import { expect, it } from "vitest";
import { chooseMapping } from "@/server/engines/chooseMapping";
import { parsePromText } from "@/server/engines/promText";
import { readCanonicalMetrics } from "@/server/engines/readCanonicalMetrics";
import { createVllmMetrics } from "./vllmMetrics";

it("tells empty buckets before the first request, as a real server does: no latency is missing", async () => {
  const levels = () => ({ running: 0, waiting: 0, kvUse: 0, preemptions: 0, openTokens: 0 });
  const metrics = parsePromText(
    await createVllmMetrics({ model: "m", kvTokens: 1000, memoryShare: 0.9, maxModelTokens: 512, levels }).text(),
  );
  const mapping = chooseMapping(metrics, "0.32.0+emulated");
  const canonicalMetrics = mapping && readCanonicalMetrics(metrics, mapping);
  for (const name of ["ttftSeconds", "tpotSeconds", "endToEndSeconds", "queueSeconds"] as const) {
    expect(canonicalMetrics?.[name], name).toMatchObject({ state: "value", value: { sum: 0 } });
  }
});
