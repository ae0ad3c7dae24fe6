import { expect, it } from "vitest";
import { studioSettings } from "./studioSettings";

it("reads series from a Prometheus only where the environment names one", () => {
  const prometheus = (environment: Record<string, string>) => studioSettings(environment).prometheus;
  expect(prometheus({})).toBeNull();
  expect(prometheus({ WEIR_PROMETHEUS_URL: "", WEIR_PROMETHEUS_TOKEN: "t" })).toBeNull();
  const url = "http://prometheus.example/root";
  expect(prometheus({ WEIR_PROMETHEUS_URL: `${url}/` })).toEqual({ url, scrapeSeconds: 15 });
  expect(prometheus({ WEIR_PROMETHEUS_URL: url, WEIR_PROMETHEUS_TOKEN: "t", WEIR_PROMETHEUS_SCRAPE_SECONDS: "5" })).toEqual({
    url,
    bearer: "t",
    scrapeSeconds: 5,
  });
  expect(prometheus({ WEIR_PROMETHEUS_URL: url, WEIR_PROMETHEUS_SCRAPE_SECONDS: "often" })?.scrapeSeconds).toBe(15);
});
