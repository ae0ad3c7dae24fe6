import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { listen } from "@/server/contracts/http/apiServer";
import { mappingsInForce } from "@/server/engines/mappingsInForce";
import { createPrometheusSource } from "./prometheusSource";

const nowhere = "http://127.0.0.1:9";
const mappings = mappingsInForce().builtIn;

describe("a Prometheus that does not answer well", () => {
  const range = { fromMs: 0, toMs: 60_000, bucketMs: 5_000 };
  const asked = [
    { subject: "engine:a", quantity: "running" },
    { subject: "stage:m", quantity: "meanJudgedScore" },
  ];
  const sourceAt = (url: string, bearer?: string) =>
    createPrometheusSource({
      url,
      ...(bearer === undefined ? {} : { bearer }),
      timeoutMs: 300,
      scrapeSeconds: 1,
      timeScale: () => 1,
      mappings,
      targets: () => ({ engines: [{ id: "a", url: nowhere }], gpus: [], models: ["m"], gatewayAdminUrl: nowhere }),
    });
  const serve = async (answer: (body: string, authorization: string | undefined) => { status: number; text: string } | null) => {
    const server = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      const given = answer(body, request.headers.authorization);
      if (given !== null) response.writeHead(given.status, { "content-type": "application/json" }).end(given.text);
    });
    await listen(server, 0);
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const matrix = (result: unknown, warnings?: readonly string[]) =>
    JSON.stringify({ status: "success", data: { resultType: "matrix", result }, warnings });

  it.each([
    ["is not there", async () => nowhere, /cannot be reached: /],
    ["hangs", () => serve(() => null), /did not answer within 0\.3 s/],
    ["wants a token", () => serve(() => ({ status: 401, text: "no" })), /refused the studio \(401\): set WEIR_PROMETHEUS_TOKEN/],
    ["answers with something else", () => serve(() => ({ status: 200, text: "<html>" })), /answered 200 with something else than a range/],
    [
      "refuses the query",
      () => serve(() => ({ status: 422, text: JSON.stringify({ status: "error", errorType: "execution", error: "too many samples" }) })),
      /refused a query \(execution\): too many samples/,
    ],
  ])("says so in a sentence when it %s, and what cannot be read is a gap", async (_, start, sentence) => {
    const answer = await sourceAt(await start()).range({ ...range, series: asked });
    expect(answer.problems).toHaveLength(2);
    expect(answer.problems.join(" ")).toMatch(sentence);
    expect(answer.problems.join(" ")).toContain("meanJudgedScore of the stage cannot be asked of a Prometheus.");
    expect(answer.series.map(({ last }) => last)).toEqual([Array(12).fill(null), Array(12).fill(null)]);
  });

  it("sends the token, reads what came, leaves out what is no number, and hands on warnings", async () => {
    const labels = { instance: new URL(nowhere).host, weir_statistic: "max" };
    const url = await serve((_, authorization) => {
      if (authorization !== "Bearer t") return { status: 401, text: "" };
      return {
        status: 200,
        text: matrix(
          [
            {
              metric: labels,
              values: [
                [5, "5"],
                [10, "NaN"],
                [60, "7"],
              ],
            },
          ],
          ["one store did not answer"],
        ),
      };
    });
    const answer = await sourceAt(url, "t").range({ ...range, series: asked.slice(0, 1) });
    expect(answer.series[0]?.max).toEqual([5, ...Array(10).fill(null), 7]);
    expect(answer.series[0]?.min.every((value) => value === null)).toBe(true);
    expect(answer.problems).toEqual([`Prometheus at ${url} warns: one store did not answer.`]);
  });

  it("asks once for a quantity of all engines", async () => {
    const bodies: string[] = [];
    const url = await serve((body) => {
      bodies.push(body);
      return { status: 200, text: matrix([]) };
    });
    const source = createPrometheusSource({
      url,
      timeoutMs: 1_000,
      scrapeSeconds: 1,
      timeScale: () => 1,
      mappings,
      targets: () => ({
        engines: ["a", "b"].map((id, at) => ({ id, url: `http://10.0.0.${at}:8000` })),
        gpus: [],
        models: [],
        gatewayAdminUrl: nowhere,
      }),
    });
    await source.range({ ...range, series: ["a", "b"].map((id) => ({ subject: `engine:${id}`, quantity: "running" })) });
    expect(bodies).toHaveLength(1);
    expect(new URLSearchParams(bodies[0]).get("query")).toContain(String.raw`instance=~"10\\.0\\.0\\.0:8000|10\\.0\\.0\\.1:8000"`);
  });
});
