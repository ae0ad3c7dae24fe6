import { expect, it } from "vitest";
import { writeView } from "@/components/url/useUrlView";
import { type LiveView, liveCodec, SCOPES, SPAN_NAMES } from "./liveCodec";

const first: LiveView = {
  scope: "cluster",
  of: null,
  span: "300",
  zoom: null,
  filter: { outcome: "any", model: null, slowerThanSeconds: null, text: null },
};
const read = (text: string) => liveCodec.parse(new URLSearchParams(text));

it("brings every scope, span, zoom and filter back from the address", () => {
  const views: LiveView[] = [
    first,
    ...SCOPES.map((scope) => ({ ...first, scope, of: scope === "cluster" ? null : "llama-3.1-8b/0 & more" })),
    ...SPAN_NAMES.map((span) => ({ ...first, span })),
    { ...first, zoom: { fromMs: 1_700_000_000_000, toMs: 1_700_000_060_000 } },
    { ...first, filter: { outcome: "failed", model: "llama-3.1-8b", slowerThanSeconds: 2.5, text: "req-1" } },
  ];
  for (const view of views) expect(liveCodec.parse(writeView(liveCodec, new URLSearchParams(), view))).toEqual(view);
});

it("says nothing in the address of a page that is seen as it opens, and keeps what other parts own", () => {
  expect(writeView(liveCodec, new URLSearchParams("cluster=a&scope=gpu&span=900"), first).toString()).toBe("cluster=a");
});

it("reads what nobody can mean as the default", () => {
  expect(read("scope=planet&span=7&from=9&to=5&outcome=odd&slower=soon&of=&find=%20")).toEqual(first);
  expect(read("from=1000").zoom).toBeNull();
  expect(read("from=1000&to=1001").zoom).toBeNull();
  expect(read("from=0&to=8640000000000000").zoom).toBeNull();
  expect(read(`from=0&to=${32 * 86_400_000}`).zoom).toBeNull();
  expect(read(`of=${"x".repeat(1000)}`).of).toBeNull();
});
