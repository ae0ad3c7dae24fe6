import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import type { PredictedBand } from "./chartSpec";
import { prepareTimeChart } from "./prepareTimeChart";
import { TimeKey } from "./TimeKey";

const spec = {
  id: "c",
  title: "Chart",
  unit: "",
  format: (value: number) => `${value} per second`,
  draws: "max",
  series: ["told", "silent"].map((quantity) => ({ key: { subject: "gateway", quantity }, name: quantity, hue: "red", dashed: false })),
  promise: "predicted p95",
} as const;

function key(values: readonly number[], bucketMs: number, bands: readonly PredictedBand[] = []): string {
  const range = {
    bucketMs,
    atMs: values.map((_, at) => at * bucketMs),
    series: [{ subject: "gateway", quantity: "told", mean: values, min: values, max: values, last: values, count: values.map(() => 1) }],
    problems: [],
  };
  const window = { fromMs: 0, toMs: 3 * bucketMs };
  const picture = prepareTimeChart({ spec, range, window, bands, marks: [] }, { width: 300, height: 100 }, () => 0);
  return renderToStaticMarkup(<TimeKey picture={picture} spec={spec} />);
}

describe("TimeKey", () => {
  it("gives each line its newest sample, or says that there is none", () => {
    expect(key([1, 2, 3], 1000)).toMatch(/told<span[^>]*>3 per second<.*silent<span[^>]*>no sample</);
    expect(key([], 1000)).not.toContain("no sample");
  });

  it("says how old the newest may be where buckets are wide", () => {
    expect(key([1, 2, 3], 7_200_000)).toContain("newest within 2 h");
    expect(key([1, 2, 3], 20_000)).not.toContain("newest within");
  });

  it("shows what was predicted in the hues that its bands have, each once", () => {
    const band = (hue: string, fromMs: number) => ({ fromMs, toMs: fromMs + 1000, low: 1, high: 2, value: 1.5, hue });
    const html = key([1, 2, 3], 1000, [band("teal", 0), band("teal", 1000), band("plum", 0)]);
    expect([...html.matchAll(/fill="(\w+)"/g)].map(([, hue]) => hue)).toEqual(["teal", "plum"]);
    expect(html).toContain("predicted p95");
  });
});
