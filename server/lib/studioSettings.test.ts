import { expect, it } from "vitest";
import { studioSettings } from "./studioSettings";

it("has targets scraped every half second to five seconds", () => {
  const every = (seconds?: string) => studioSettings({ WEIR_SCRAPE_SECONDS: seconds }).scrapeIntervalMs;
  expect([undefined, "", "often", "0.2", "0.5", "2.5", "5", "60"].map(every)).toEqual([1000, 1000, 1000, 1000, 500, 2500, 5000, 5000]);
});

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
